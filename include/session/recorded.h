// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the records of samples again from a perf.data file, for fields that the history does not keep. */
#ifndef FLAMETOP_SESSION_RECORDED_H
#define FLAMETOP_SESSION_RECORDED_H

#include "perf/record.h"
#include "session/samples.h"

struct session_recorded;
/* Receives a sample and its record, in order of time. at: for session_recorded_path. False stops. */
typedef bool session_recorded_fn(void *ctx, const struct sample *sample, const struct record *r,
                                 struct session_recorded *at);
/* Calls fn for samples that were collected with `numbered` set (session_samples). False: the session is live,
 * the file is still being read, or reading it stopped early. */
bool session_each_recorded(struct session *s, const struct session_samples *samples, session_recorded_fn *fn,
                           void *ctx, struct error *e);
/* Path of the file that was mapped at an address of the record's process at that time, also as data. NULL:
 * unknown to the file. Raw; valid until the next record. */
const char *session_recorded_path(struct session_recorded *at, const struct record *r, uint64_t address);

#endif
