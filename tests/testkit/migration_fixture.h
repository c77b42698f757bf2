/*
 * migration_fixture: a small data set in both formats of keys, with all that
 * they can hold.
 */
#ifndef TESTKIT_MIGRATION_FIXTURE_H
#define TESTKIT_MIGRATION_FIXTURE_H

#include <stddef.h>

#include "testkit/state_fixture.h"

/* Rows of commands: words separated by spaces, '@' is a space within one. */
extern const char *const migration_format_1[];
extern const char *const migration_format_2[];
extern const size_t migration_format_1_n, migration_format_2_n;

/* migration_fixture_load(f, rows, n): Execute them, on an empty Redis. */
void migration_fixture_load(
    struct state_fixture *f, const char *const *rows, size_t n);

/*
 * migration_fixture_text(f):
 * All keys with their values, as text that is the same if they are; freed by
 * the caller.  Of expiry it says whether, and of the time of a binding whether
 * it is of the last minute.
 */
char *migration_fixture_text(struct state_fixture *f);

/* migration_fixture_sessions(f, n): n sessions in format 1, of n / 10 users,
 * with 10 messages each, their souls, and other records. */
void migration_fixture_sessions(struct state_fixture *f, int n);

#endif /* !TESTKIT_MIGRATION_FIXTURE_H */
