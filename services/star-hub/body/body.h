/*
 * body: souls that live in environments: to a soul its environment is a body,
 * to the environment the soul is an agent.
 *
 * The hub to which an environment is connected has its residents: for each soul
 * that lives there an agent without a connection, and a terminal of the broker
 * "star".  One hub has a resident at a time, by a lease; the lease's epoch is
 * that of the terminal's reports.  While the environment is connected nowhere,
 * its last hub still has the residents, whose terminals are offline.
 *
 * Everything runs on the loop; what calls Redis, in fibers.
 */
#ifndef STAR_HUB_BODY_H
#define STAR_HUB_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "body/body_message.h"
#include "body/observation.h"
#include "core/fiber.h"
#include "core/loop.h"
#include "core/trace.h"
#include "hub.h"
#include "state/star_home.h"
#include "state/terminal.h"

struct bus_msg;
struct bus_sub;
struct snapshot_parser;
struct worker_pool;

/* Residents of a hub. */
#define BODY_RESIDENTS_MAX 10000
/* Messages that wait for a resident, actions without an outcome, and senders
 * that it remembers. */
#define BODY_INBOX_MAX   256
#define BODY_ACTIONS_MAX 256
#define BODY_SENDERS_MAX 1000
/* Messages of one sender that wait for its turn. */
#define BODY_QUEUE_MAX 4
/* Kinds of commands to a terminal. */
#define BODY_COMMANDS 4
/* How long a lease lasts, and how often it is renewed. */
#define BODY_LEASE_MS 3000
#define BODY_TICK_MS  1000
/* An outcome that comes later than this is not expected any more. */
#define BODY_OUTCOME_MS 120000

struct body_metrics {
	struct metric *residents, *reports, *rejected, *observations;
	struct metric *actions, *undelivered, *outcomes, *turns, *failed;
};

/* All of a hub. */
struct bodies {
	struct hub *h;
	char owner[80];     /* of leases: the hub's first name */
	struct map *by_key; /* struct body by identity_env_key() */
	TAILQ_HEAD(, body) list;
	size_t n;
	size_t n_residents;
	struct worker_pool *reader; /* one thread */
	struct snapshot_parser *parser;
	struct bus_sub *homes;
	struct loop_timer tick;
	bool stopping;
	struct body_metrics metrics;
};

/* A snapshot that an environment has reported. */
struct body_snapshot {
	bool known;
	int64_t gen; /* rises with each report */
	int64_t version;
	char *json, *hash; /* hash NULL: of skills */
};

TAILQ_HEAD(resident_list, resident);

/* An environment. */
struct body {
	TAILQ_ENTRY(body) link;
	struct bodies *all;
	char key[IDENTITY_KEY_MAX + 1];
	char *text; /* of identity */
	struct identity identity;
	char room_tenant[ID_MAX + 1], room_name[ID_MAX + 1];
	struct star_room room;
	struct client *client; /* NULL: it is not connected here */
	struct body_snapshot skills, catalog;
	struct resident_list residents;
	struct fiber_lock lock; /* of the list of residents, and reports */
	unsigned users;         /* fibers */
	bool ticking;
	struct mono synced; /* when the residents were read; 0: they must be */
	int64_t newer; /* version of a terminal's that is over a report's */
};

/* An action without an outcome. */
struct body_pending {
	TAILQ_ENTRY(body_pending) link;
	char id[ID_MAX + 1];
	struct mono until;
	struct trace trace;           /* of the command */
	struct body_intents *intents; /* NULL: of an invoke */
	bool failed;                  /* the hub did not deliver it */
};

TAILQ_HEAD(body_pending_list, body_pending);

struct dialogue;

/* A soul in an environment. */
struct resident {
	TAILQ_ENTRY(resident) link;
	struct body *body;
	char agent[STAR_ID_BYTES + 1], user[ID_MAX + 1], soul[ID_MAX + 1];
	char terminal[BODY_TERMINAL_MAX];
	struct client *client; /* NULL: it does not have its identity */
	int64_t epoch;         /* of its lease; 0: not held */
	struct mono until;     /* of the lease */
	struct bus_sub *commands[BODY_COMMANDS];
	bool online;       /* its terminal, as last reported */
	bool ended;        /* it is freed when its last user ends */
	bool missing;      /* while the list is read */
	bool is_new;       /* its terminal has not been reported yet */
	unsigned users;    /* fibers and turns */
	struct mono alive; /* when its terminal's last sign of life was sent */
	int64_t skills_gen, catalog_gen; /* as written; 0: none */
	struct body_pending_list pending;
	size_t n_pending;
	struct resident_message *first, **last; /* the inbox */
	size_t n_inbox;
	bool draining; /* a fiber handles the inbox, or is about to */
	struct loop_deferred drain;
	struct dialogue *dialogue;
	struct observations observations;
	struct throttle attention;
};

/* ---- body.c: environments ---- */

/* body_is_up(b): Whether the environment is connected here. */
bool body_is_up(const struct body *b);

/* body_hold(b), body_release(b): Around a fiber that uses it. */
void body_hold(struct body *b);
void body_release(struct body *b);

/* bodies_sync(h, room): The residents of an environment may have changed. */
void bodies_sync(struct hub *h, const struct star_room *room);

/* bodies_notify(h, room): Have all hubs do so. */
void bodies_notify(struct hub *h, const struct star_room *room);

/* ---- resident.c ---- */

/*
 * In a fiber that holds the body's lock:
 * resident_new(b, e): Acquire the lease of a soul, and be its agent; is_new is
 * set, and the caller reports it.
 * resident_report(r): Bring its terminal up to date; false: another hub has it.
 * resident_tick(r): Renew what expires; the same.
 * resident_end(r): Give up its lease, identity and list entry.
 *
 * resident_drop(r): The same when nothing runs any more; its lease expires.
 */
void resident_new(struct body *b, const struct star_resident *e);
bool resident_report(struct resident *r);
bool resident_tick(struct resident *r);
void resident_end(struct resident *r);
void resident_drop(struct resident *r);

/* resident_holds(r): Whether its lease is held, and it is to go on. */
bool resident_holds(const struct resident *r);

/* resident_hold(r), resident_release(r): Around a fiber or a turn. */
void resident_hold(struct resident *r);
void resident_release(struct resident *r);

/* resident_send(r, text): Send a message as its agent; false: it is none now.
 */
bool resident_send(struct resident *r, struct str text);

/* ---- on_home.c ---- */

/* hub_bind_home(h, home): Bind its terminal to its soul; in a fiber. */
enum rc hub_bind_home(struct hub *h, const struct star_home *home) RC_CHECK;

/* ---- body_action.c: commands and outcomes ---- */

/* body_subscribe(r), body_unsubscribe(r): Commands to its terminal. */
void body_subscribe(struct resident *r);
void body_unsubscribe(struct resident *r);

/*
 * body_on_undelivered(r, id): The message with that id was not delivered.
 * body_on_outcome(r, p): In a fiber.
 * body_forget_actions(r, all): Those whose time is over, or all, have no
 * outcome any more.
 */
void body_on_undelivered(struct resident *r, struct str id);
void body_on_outcome(struct resident *r, const struct body_payload *p);
void body_forget_actions(struct resident *r, bool all);

/* ---- dialogue.c: what is said to a soul ---- */

/* dialogue_new(r), dialogue_free(d): With no sender; NULL is allowed. */
struct dialogue *dialogue_new(struct resident *r);
void dialogue_free(struct dialogue *d);

/* dialogue_receive(d, from, p, trace): Something was sent to the agent, as part
 * of a trace; NULL: none.  In a fiber. */
struct trace;
void dialogue_receive(struct dialogue *d, const struct identity *from,
    const struct body_payload *p, const struct trace *trace);

/* ---- on_body.c: reports of environments; on_home.c: requests ---- */

/* A request of an environment to the hub, with a report. */
struct body_report {
	struct str id;   /* of the request, JSON, for the outcome */
	struct str data; /* JSON */
	bool catalog;
};

/*
 * body_report(h, c, r): The outcome follows.  Returns an error if it cannot be
 * read now; NULL: it is.
 */
const char *body_report(
    struct hub *h, struct client *c, const struct body_report *r);

#endif /* !STAR_HUB_BODY_H */
