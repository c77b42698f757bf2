/*
 * run_report: what has become of the tasks that earlier turns gave engines: the
 * session's next turn reports it once.
 */
#ifndef LLM_ORCHESTRATOR_RUN_REPORT_H
#define LLM_ORCHESTRATOR_RUN_REPORT_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/session.h"

struct turn_run;

/*
 * run_report_sentences(notes, before, a):
 * The sentences before, which may be absent, and one for each note (run_note);
 * invalid ones are ignored.  Absent if before is, or a is full.  Pure.
 */
struct str run_report_sentences(
    const struct session_notes *notes, struct str before, struct arena *a);

/*
 * run_report_take(r, notes):
 * Set r->facts.notes to a copy of those that a turn can report, the oldest.
 */
enum rc run_report_take(
    struct turn_run *r, const struct session_notes *notes) RC_CHECK;

/*
 * run_report_done(r): The turn has reported them; a call, if there are any.  If
 * it fails, they are reported a second time.
 */
void run_report_done(struct turn_run *r);

/*
 * run_report_spoken(r, title):
 * The end of a run with that title was spoken about in r's session: no turn
 * reports it any more.  Calls; if one fails, it is reported a second time.
 */
void run_report_spoken(struct turn_run *r, struct str title);

#endif /* !LLM_ORCHESTRATOR_RUN_REPORT_H */
