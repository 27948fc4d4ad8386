-- SPDX-License-Identifier: GPL-2.0-or-later
module Main where
import qualified Data.Map.Strict as M
import Data.List (foldl', sort)
import System.IO

collatz :: Int -> Int
collatz 1 = 1
collatz n = 1 + collatz (if even n then n `div` 2 else 3 * n + 1)

counts :: Int -> M.Map String Int
counts n = foldl' (\m i -> M.insertWith (+) ("word" ++ show (i `mod` 17)) i m) M.empty [1 .. n]

loop :: Integer -> Int -> IO ()
loop x n = do
  let y = x + fromIntegral (sum (M.elems (counts 200)) + collatz (27 + n `mod` 50)) + product [1 .. 40]
  y `seq` loop (y `mod` 1000003) (n + length (sort (show y)))

main :: IO ()
main = putStrLn "ready" >> hFlush stdout >> loop 1 1
