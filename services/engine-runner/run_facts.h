/*
 * run_facts: what is stored of a run beside its state, and the events of runs
 * for other services.
 */
#ifndef ENGINE_RUNNER_RUN_FACTS_H
#define ENGINE_RUNNER_RUN_FACTS_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "events/rasp.h"
#include "fcmp/fcmp_write.h"
#include "procsup/sandbox.h"
#include "state/run.h"
#include "wire/msgs.h"

struct runner;

/* run_facts_read(json, a, f): Empty ones if there are none, or invalid ones. */
void run_facts_read(struct str json, struct arena *a, struct wire_run_facts *f);

/* run_facts_isolation(f, s, names): What s enforces; names has room for it. */
void run_facts_isolation(struct wire_run_facts *f,
    const struct sandbox_report *s, struct str names[SANDBOX_RULES_N]);

/* run_facts_add_usage(f, u): More tokens.  run_facts_set_error(f, e). */
void run_facts_add_usage(struct wire_run_facts *f, const struct rasp_usage *u);
void run_facts_set_error(struct wire_run_facts *f, const struct fcmp_error *e);

/* run_facts_write(f, out): As JSON, at most RUN_FACTS_MAX; logged if not. */
void run_facts_write(const struct wire_run_facts *f, struct buf *out);

/*
 * run_question_write(q, out): As the record's JSON.
 */
void run_question_write(const struct fcmp_question *q, struct buf *out);

/*
 * run_note_write(rec, f, text, out):
 * What a session is to report of a run that is to have the status of rec: text
 * is its question, or the engine's last message.  Nothing if there is no such
 * session.
 */
void run_note_write(const struct run_record *rec,
    const struct wire_run_facts *f, struct str text, struct buf *out);

/*
 * run_event_started(r, rec), run_event_question(r, rec, question),
 * run_event_ended(r, rec, f, text):
 * Send the event, which is the same however often it is sent, and of an end
 * request that it is spoken about; rec has the
 * status and attempt that it reports, text is the engine's last message.
 */
void run_event_started(struct runner *r, const struct run_record *rec);
void run_event_question(
    struct runner *r, const struct run_record *rec, struct str question);
void run_event_ended(struct runner *r, const struct run_record *rec,
    const struct wire_run_facts *f, struct str text);

#endif /* !ENGINE_RUNNER_RUN_FACTS_H */
