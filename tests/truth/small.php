<?php
// SPDX-License-Identifier: GPL-2.0-or-later
function one($x) { return ($x * 1103515245 + 12345) & 0x7fffffff; }
function two($x) { return one($x) + one($x + 1); }
function words($n) {
    $counts = [];
    for ($i = 0; $i < $n; $i++) { $key = "word" . $i % 17; $counts[$key] = ($counts[$key] ?? 0) + 1; }
    ksort($counts);
    usort($GLOBALS['list'], fn($a, $b) => one($a) <=> one($b));
    return strlen(implode(",", array_keys($counts)));
}
$list = range(1, 50);
echo "ready\n";
for ($x = 1; ; ) {
    for ($i = 0; $i < 200; $i++) $x = two($x) & 0xffff;
    $x += words(50) + strlen(preg_replace_callback('/(w\w+d)(\d+)/', fn($m) => $m[2], str_repeat("word$x and ", 20)));
    $x += preg_match_all('/\b[a-z]+(?=\s)|(\d+)+$/', str_repeat("some words 12 ", 50));
}
