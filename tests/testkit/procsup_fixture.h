/*
 * procsup_fixture: attempts with engine-play as the engine, and what their
 * handlers get.  The test program is the program of the shims: started with
 * "shim" it is one.
 */
#ifndef TESTKIT_PROCSUP_FIXTURE_H
#define TESTKIT_PROCSUP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/loop.h"
#include "procsup/procsup.h"

#define ATTEMPT_STEPS 24
#define ATTEMPT_WAIT  20000 /* ms */

struct procsup_fixture {
	struct loop *loop;
	struct procsup *procsup;
};

/* An attempt; its folder has spool, work, home and tmp. */
struct attempt {
	struct procsup_fixture *fixture;
	char mark[64];
	char dir[256], spool[300], work[300];
	/* Of attempt_start(); may be changed before. */
	struct procsup_spec spec;
	const char *argv[ATTEMPT_STEPS + 2], *env[16];
	struct shim *shim; /* NULL: ended */
	struct buf out[SPOOL_STREAMS_N];
	size_t chunks, records;
	int64_t first_ns, last_ns;
	bool ended, damaged;
	struct spool_exit exit;
};

/* procsup_begin(f, grace_ms), procsup_end(f): The runner's side. */
void procsup_begin(struct procsup_fixture *f, int64_t grace_ms);
void procsup_end(struct procsup_fixture *f);

/* procsup_drop_root(f): If root, become nobody, who owns the test's folder. */
void procsup_drop_root(void);

/*
 * attempt_prepare(a, f, name): Folders, and a spec without limits whose sandbox
 * is none.
 * attempt_steps(a, ...): What engine-play does; STEPS("out=x", "exit=1").
 * attempt_start(a): Start it.
 * attempt_take_over(a): What another runner has started.
 * attempt_release(a): What it has got.
 */
void attempt_prepare(
    struct attempt *a, struct procsup_fixture *f, const char *name);
void attempt_steps(struct attempt *a, const char *const *steps);
#define STEPS(...) ((const char *const[]){ __VA_ARGS__, NULL })
void attempt_start(struct attempt *a);
void attempt_take_over(struct attempt *a);
void attempt_release(struct attempt *a);

/*
 * attempt_isolate(a, mode): Use that sandbox; a report of it, or NULL if this
 * machine has not what it requires.
 */
const struct sandbox_report *attempt_isolate(
    struct attempt *a, enum sandbox_mode mode);

/*
 * attempt_await_end(a): Run the loop until its end; it must be whole.
 * attempt_await_text(a, text): Until its stdout has text.
 * attempt_run(a, steps): Steps, start and end.
 */
void attempt_await_end(struct attempt *a);
void attempt_await_text(struct attempt *a, const char *text);
void attempt_run(struct attempt *a, const char *const *steps);

/* attempt_out(a), attempt_err(a): So far. */
const char *attempt_out(const struct attempt *a);
const char *attempt_err(const struct attempt *a);

/* attempt_has(a, text): Whether stdout has it. */
bool attempt_has(const struct attempt *a, const char *text);

/*
 * attempt_shim_pid(a): Waits for it.
 * attempt_processes(a): How many have its mark.
 */
pid_t attempt_shim_pid(struct attempt *a);
size_t attempt_processes(const struct attempt *a);

/* procsup_descriptors(): That this process has open. */
size_t procsup_descriptors(void);

#endif /* !TESTKIT_PROCSUP_FIXTURE_H */
