// SPDX-License-Identifier: GPL-2.0-or-later
// Functions so small that a good part of the samples falls on their first and last instructions.
'use strict';
function one(x) { return x ^ (x << 13); }
function two(x) { return one(x) ^ (x >>> 7); }
function three(x, f) { return f(x) + two(x | 0); }
function four(a) { let s = 0; for (let i = 0; i < a.length; i++) s = (s + three(a[i], one)) | 0; return s; }
class Shape { constructor(n) { this.n = n; } area() { return this.n * this.n; } }
class Ring extends Shape { area() { return super.area() * 3 - one(this.n); } }
function five(n) { return new Ring(n).area() + new Shape(n).area(); }
function text(n) { return ('word' + n).replace(/o(r)/g, '$1').split('').map((c) => c.charCodeAt(0)).reduce((a, b) => a + b); }
const list = Array.from({ length: 100 }, (_, i) => i);
console.log('ready');
for (let x = 1; ;) {
    x = (x + four(list) + five(x & 1023) + text(x & 63)) | 0;
    list.sort((a, b) => one(a) - one(b));
}
