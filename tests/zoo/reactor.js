// SPDX-License-Identifier: GPL-2.0-or-later
/* A path of compiled functions below a timer; node needs --perf-basic-prof --no-turbo-inlining.
 * truth: @start;..;@js begin;@js first;@js second;@js third;@js fourth;@js fifth;@js sixth;@js seventh;@js hot
 */
'use strict';

const LONG = 200000;

function hot(x, n) {
    for (let i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
    }
    return x;
}

function seventh(x, n) { return hot(x, n) + 1 | 0; }
function sixth(x, n) { return seventh(x, n) + 1 | 0; }
function fifth(x, n) { return sixth(x, n) + 1 | 0; }
function fourth(x, n) { return fifth(x, n) + 1 | 0; }
function third(x, n) { return fourth(x, n) + 1 | 0; }
function second(x, n) { return third(x, n) + 1 | 0; }
function first(x, n) { return second(x, n) + 1 | 0; }

let x = 1;
let rounds = 0;
function begin() {
    for (let i = 0; i < 100; i++)
        x = first(x, rounds < 300 ? 20 : LONG);
    if (++rounds === 300)
        console.log('ready'); /* every function is compiled by now */
    setTimeout(begin, 0);
}
begin();
