/*
 * terminal_fixture: reports and results of single terminals, for tests.
 */
#ifndef TESTKIT_TERMINAL_FIXTURE_H
#define TESTKIT_TERMINAL_FIXTURE_H

#include "state/terminal.h"

/*
 * terminal_fixture_key(pattern, user, id):
 * A key of keys.h; id NULL: the pattern has a single '%', or none.  It lives
 * until 8 others were made.
 */
struct str terminal_fixture_key(
    const char *pattern, const char *user, const char *id);

/*
 * terminal_fixture_bind(s, id, user, soul),
 * terminal_fixture_bind_if_unbound(s, id, user, soul):
 * As terminal_bind().
 */
enum rc terminal_fixture_bind(
    struct state *s, struct str id, struct str user, struct str soul);
enum rc terminal_fixture_bind_if_unbound(
    struct state *s, struct str id, struct str user, struct str soul);

/*
 * terminal_fixture_put_online(s, w, id, online, changed),
 * terminal_fixture_put_skills(s, w, id, snap, current),
 * terminal_fixture_put_catalog(s, w, id, snap, current),
 * terminal_fixture_put_rejection(s, w, id, rejection):
 * One report by terminal_put_reports(), and its result.  The soul gets a copy,
 * as from the bridge.  *changed (may be
 * NULL): whether presence changed; *current: the stored version.
 */
enum rc terminal_fixture_put_online(struct state *s,
    const struct terminal_writer *w, struct str id, bool online, bool *changed);
enum rc terminal_fixture_put_skills(struct state *s,
    const struct terminal_writer *w, struct str id,
    const struct terminal_snapshot *snap, int64_t *current);
enum rc terminal_fixture_put_catalog(struct state *s,
    const struct terminal_writer *w, struct str id,
    const struct terminal_snapshot *snap, int64_t *current);
enum rc terminal_fixture_put_rejection(struct state *s,
    const struct terminal_writer *w, struct str id,
    const struct terminal_rejection *rejection);

/*
 * terminal_fixture_heartbeats(s, w, ids, n, came):
 * Heartbeats of n terminals.  came (may be NULL) has n elements: whether the
 * terminal was not present before.  Returns the first error.
 */
enum rc terminal_fixture_heartbeats(struct state *s,
    const struct terminal_writer *w, const struct str *ids, size_t n,
    bool *came);

/*
 * terminal_fixture_put_result(s, id, request_id, json, first):
 * Expect a result, wherever the terminal is, and store it; *first: none was
 * stored before.
 */
enum rc terminal_fixture_put_result(struct state *s, struct str id,
    struct str request_id, struct str json, bool *first);

#endif /* !TESTKIT_TERMINAL_FIXTURE_H */
