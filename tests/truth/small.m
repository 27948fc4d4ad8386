% SPDX-License-Identifier: GPL-2.0-or-later
1;
function y = one (x)
  y = mod (x * 1103 + 12345, 65536);
end
function y = two (x)
  y = one (x) + one (x + 1);
end
printf ("ready\n");
fflush (stdout);
while true
  for i = 1:50
    x(i) = two (i);
  end
  a = rand (60);
  b = a \ a';
  [u, s, v] = svd (a);
  t = regexprep (sprintf ("%d,", x), '[0-4]+', 'a');
end
