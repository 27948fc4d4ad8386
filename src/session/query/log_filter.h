// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests values of a field against the filter of the log. */
#ifndef FLAMETOP_SESSION_QUERY_LOG_FILTER_H
#define FLAMETOP_SESSION_QUERY_LOG_FILTER_H

#include "session/log_rows.h"

bool log_filter_number(const struct log_condition *c, uint64_t number, bool is_negative);
bool log_filter_text(const struct log_condition *c, const char *text);

#endif
