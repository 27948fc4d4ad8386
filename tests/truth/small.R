# SPDX-License-Identifier: GPL-2.0-or-later
one <- function(x) (x * 1103 + 12345) %% 65536
two <- function(x) one(x) + one(x + 1)
cat("ready\n")
flush(stdout())
repeat {
    x <- sapply(1:200, two)
    m <- matrix(x, 20)
    y <- solve(m[1:10, 1:10] + diag(10) * 1e6)
    f <- lm(x ~ seq_along(x))
    s <- paste(sort(as.character(x)), collapse = ",")
    g <- gsub("[0-4]+", "a", s)
}
