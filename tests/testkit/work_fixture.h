/*
 * work_fixture: a toy service with one consumer of work, which is started again
 * each time it kills itself, and a nats-server, for tests of libs/work.
 *
 * An item is "<mode> <name>" and has one effect, a line with its name, unless
 * its id has had one:
 *   ok       done
 *   read     kills the process before it is handled, once
 *   handle   kills it while it is handled, once
 *   effect   kills it after the effect, once
 *   invalid  is a dead letter at once
 *   dead     the same, and kills the process before it is acknowledged, once
 *   fails    fails until work_fixture_repair()
 *   undone   the same, but has its effect each time
 *   waits    what it needs is unavailable until then
 *   slow     done after a while; its key is the first letter of its name
 */
#ifndef TESTKIT_WORK_FIXTURE_H
#define TESTKIT_WORK_FIXTURE_H

#include "testkit/nats.h"
#include "testkit/service.h"
#include "work/work.h"

#define WORK_FIXTURE_MS 30000

struct work_fixture {
	struct tk_server nats;
	struct tk_service toy; /* the process that restarts it */
	natsConnection *nc;
};

/*
 * work_fixture_fork(fx, url, o): Start the toy for that server.  o has the
 * members that are not those of the toy: ack_wait_ms, max_deliveries, events.
 * work_fixture_start(fx, o): Start a server and the toy, and wait until it has
 * its consumer.
 * work_fixture_stop(fx): It must drain and exit 0.
 */
void work_fixture_fork(
    struct work_fixture *fx, const char *url, const struct work_opts *o);
void work_fixture_start(struct work_fixture *fx, const struct work_opts *o);
void work_fixture_stop(struct work_fixture *fx);

/* work_fixture_repair(): What fails or waits does so no more. */
void work_fixture_repair(void);

/*
 * work_fixture_put(fx, item): Publish an item, with itself as its message id.
 * work_fixture_put_on(fx, subject, id, data): The same on any subject.
 */
void work_fixture_put(struct work_fixture *fx, const char *item);
void work_fixture_put_on(struct work_fixture *fx, const char *subject,
    const char *id, const char *data);

/*
 * work_fixture_wait(fx, stream): Wait until the toy's consumer there has
 * acknowledged all items.
 * work_fixture_number(fx, stream, key): A number of its CONSUMER.INFO.
 * work_fixture_dead(fx): How many dead letters there are.
 */
void work_fixture_wait(struct work_fixture *fx, const char *stream);
long long work_fixture_number(
    struct work_fixture *fx, const char *stream, const char *key);
long long work_fixture_dead(struct work_fixture *fx);

/*
 * work_fixture_count(file, line): How many lines of "effects", "handled" or
 * "killed" are line.
 * work_fixture_log(file): The file, freed by the caller.
 */
int work_fixture_count(const char *file, const char *line);
char *work_fixture_log(const char *file);

/*
 * work_fixture_command(fx, code, text, args): Run memory-worker, whose kind of
 * work the toy has, with args: it must exit with code and print text.
 */
void work_fixture_command(struct work_fixture *fx, int code, const char *text,
    const char *const args[]);

#endif /* !TESTKIT_WORK_FIXTURE_H */
