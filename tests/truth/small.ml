(* SPDX-License-Identifier: GPL-2.0-or-later *)
type tree = Leaf | Node of tree * int * tree
let rec make n = if n = 0 then Leaf else Node (make (n - 1), n, make (n - 1))
let rec sum = function Leaf -> 0 | Node (l, v, r) -> sum l + v + sum r
exception Found of int
let find n = try List.iter (fun x -> if x = n then raise (Found x)) [1; 2; 3; 4; 5]; 0 with Found x -> x
let words n =
  let t = Hashtbl.create 16 in
  for i = 0 to n do Hashtbl.replace t (Printf.sprintf "word%d" (i mod 17)) i done;
  Hashtbl.fold (fun k v s -> String.length k + v + s) t 0
let () =
  print_endline "ready";
  let total = ref 0 in
  while true do
    total := !total + sum (make 10) + find 3 + words 50 + List.length (List.sort compare [5; 3; 1; 4; 2])
  done
