/*
 * state_internal: what the files of libs/state share: the client, replies,
 * calls of scripts, reading of records.
 */
#ifndef STATE_STATE_INTERNAL_H
#define STATE_STATE_INTERNAL_H

#include <sys/uio.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/rate.h"
#include "core/url.h"
#include "state/keys.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/turn.h"

/* An absent text, or no id. */
#define STR_NONE ((struct str){ NULL, 0 })

struct redisReplyObjectFunctions;

/* ---- redis_url.c ---- */

#define REDIS_ADDRESSES_MAX 16
#define REDIS_MASTER_MAX    64

enum redis_mode { REDIS_SINGLE, REDIS_SENTINEL, REDIS_CLUSTER };

struct redis_address {
	char host[URL_HOST_MAX];
	int port;
};

struct redis_url {
	enum redis_mode mode;
	/* The server, the sentinels, or some nodes of the cluster. */
	struct redis_address addresses[REDIS_ADDRESSES_MAX];
	size_t n;
	char user[URL_USER_MAX];
	char password[URL_PASSWORD_MAX];
	char master[REDIS_MASTER_MAX]; /* its name among sentinels */
	int64_t db;
};

/*
 * redis_url_parse(text, u):
 * NULL, or what is wrong: a constant that contains no part of text.  Pure.
 */
const char *redis_url_parse(struct str text, struct redis_url *u);

/* ---- client.c ---- */

#define STATE_ERROR_MAX 128

struct connection_opts {
	struct redis_url url;
	char sentinel_user[URL_USER_MAX];
	char sentinel_password[URL_PASSWORD_MAX];
	char name[65];
	int deadline_ms;
	bool check_format;
};

struct connection;  /* an open connection to Redis */
struct connect_job; /* a job of the worker pool */
struct state_node;  /* a server, and the calls that wait for it */
struct cluster;     /* the servers of a cluster */
struct replication; /* who waits for a server's replicas */

struct state {
	struct loop *loop;
	struct worker_pool *workers;
	struct connection_opts connection_opts;
	void (*on_format)(void *arg); /* NULL: not checked */
	void *on_format_arg;
	/* Rises with each connection, and when a slot gets another owner. */
	uint32_t version;
	struct state_node *node; /* NULL in a cluster */
	struct cluster *cluster; /* NULL outside */
	int64_t wait_replicas;   /* 0: state_wait_replicated() does nothing */
	int64_t wait_ms;
	bool stopped;
	struct state_pipe *paused; /* they wait before a retry */

	struct state_pipe *spare; /* of single commands */
	size_t n_spare;
	struct log_rate log_rejected;
	struct log_rate log_denied;
	struct log_rate log_blocks;

	struct metric *m_up;
	struct metric *m_connects;
	struct metric *m_calls;
	struct metric *m_failures;
	struct metric *m_errors;
	struct metric *m_unreplicated;
	struct metric *m_seconds;
};

/*
 * state_route(s, slot):
 * The server of a slot, which may be down; NULL if none is known.  Valid until
 * the caller returns to the loop or suspends.
 */
struct state_node *state_route(struct state *s, int slot);

/* state_fiber(s): The fiber that may wait; NULL: the call blocks. */
struct fiber *state_fiber(struct state *s);

/* state_is_later(a, b): Whether version a of a client is later than b. */
bool state_is_later(uint32_t a, uint32_t b);

/* state_url_read(o, c): The options of connections; RC_INVALID logged. */
enum rc state_url_read(
    const struct state_opts *o, struct connection_opts *c) RC_CHECK;

/* ---- connection.c ---- */

/* Expected replies, in order. */
struct connection_replies {
	struct state_reply **reply; /* room for n; in memory of a */
	size_t n;
	size_t got;
	struct arena *a;
};

/* state_connection_wrap(fd): A connection of a socket, which it owns. */
struct connection *state_connection_wrap(int fd);

/* state_connection_close(c): Close and free it.  NULL is allowed. */
void state_connection_close(struct connection *c);

/* state_connection_fd(c): Its socket, owned by c. */
int state_connection_fd(const struct connection *c);

/* Neither a surplus reply nor its end has come. */
bool state_connection_is_idle(const struct connection *c);

/* Received bytes are left that no reply was made of. */
bool state_connection_has_more(const struct connection *c);

/* A reply did not fit where it was to be put. */
bool state_connection_was_over(const struct connection *c);

/*
 * state_connection_write(c, iov, n, wrote, why): Send what the socket takes.
 * state_connection_receive(c, why): Feed the parser what came, if anything.
 * state_connection_parse(c, w, why): Take the replies that are complete.
 * state_connection_wait(c, writing, until, why): Block until there is
 *     something to read, or room to write.
 * False: the connection is unusable, and why.
 */
bool state_connection_write(struct connection *c, const struct iovec *iov,
    size_t n, size_t *wrote, char why[STATE_ERROR_MAX]) RC_CHECK;
bool state_connection_receive(
    struct connection *c, char why[STATE_ERROR_MAX]) RC_CHECK;
bool state_connection_parse(struct connection *c, struct connection_replies *w,
    char why[STATE_ERROR_MAX]) RC_CHECK;
bool state_connection_wait(struct connection *c, bool writing,
    struct mono until, char why[STATE_ERROR_MAX]) RC_CHECK;

/*
 * state_connection_exchange(c, out, w, until, why):
 * Send out and wait for the replies.  Blocks; on the worker thread that opens
 * c.  After anything but RC_OK c is unusable, and why is the error.
 */
enum rc state_connection_exchange(struct connection *c, struct str out,
    struct connection_replies *w, struct mono until,
    char why[STATE_ERROR_MAX]) RC_CHECK;

/* ---- connection_open.c; blocks, on worker threads ---- */

struct connection_target {
	struct redis_address address;
	bool master;  /* it is a failure if it is a replica */
	bool scripts; /* load them */
};

/*
 * state_connection_open(o, t, out, why):
 * Connect, authenticate, select the database, check the format of keys, load
 * all scripts.  RC_DENIED or RC_DOWN, and why; RC_CONFLICT: the keys have
 * another format, and which.
 */
enum rc state_connection_open(const struct connection_opts *o,
    const struct connection_target *t, struct connection **out,
    char why[STATE_ERROR_MAX]) RC_CHECK;

/* state_connection_dial(a, ms, out, why): Connect only; RC_DOWN, and why. */
enum rc state_connection_dial(const struct redis_address *a, int64_t ms,
    struct connection **out, char why[STATE_ERROR_MAX]) RC_CHECK;

/*
 * state_connection_login(c, user, password, why):
 * Authenticate, unless both are empty.  RC_DENIED or RC_DOWN, and why.
 */
enum rc state_connection_login(struct connection *c, const char *user,
    const char *password, char why[STATE_ERROR_MAX]) RC_CHECK;

struct connection_query {
	const struct str *args;
	size_t n;
	int64_t ms; /* for the reply */
	size_t max; /* bytes of the reply in memory */
};

/*
 * state_connection_query(c, q, out, why):
 * Run a command.  *out (out may be NULL) is its reply, which the caller frees,
 * only if RC_OK; otherwise why is the error, the server's or ours.
 */
enum rc state_connection_query(struct connection *c,
    const struct connection_query *q, struct state_reply **out,
    char why[STATE_ERROR_MAX]) RC_CHECK;

/* ---- format.c; blocks, on worker threads ---- */

/*
 * format_check(c, o, why):
 * Whether the server's keys have this program's format; an empty server gets
 * it.  RC_CONFLICT: they have another one, and which; otherwise RC_DENIED or
 * RC_DOWN, and why.
 */
enum rc format_check(struct connection *c, const struct connection_opts *o,
    char why[STATE_ERROR_MAX]) RC_CHECK;

/* What to do about keys of the format found: a constant.  Any thread. */
const char *state_format_remedy(struct str found);

/* ---- sentinel.c; blocks, on worker threads ---- */

/*
 * sentinel_find_master(o, first, master, why):
 * Query the sentinels of o, the one with index *first first; *first becomes the
 * one that knew the master.  RC_DENIED or RC_DOWN, and why.
 */
enum rc sentinel_find_master(const struct connection_opts *o, size_t *first,
    struct redis_address *master, char why[STATE_ERROR_MAX]) RC_CHECK;

/* ---- node.c ---- */

/* Commands that are sent to one server together. */
struct node_call {
	struct str bytes; /* unchanged until the call has ended */
	struct connection_replies w;
	struct mono until;
	/*
	 * Called once, on the loop, if it was submitted; NULL: the caller
	 * waits with state_node_wait().
	 */
	void (*done)(struct node_call *c);
	enum rc rc; /* of the commands whose replies did not come */
	bool ended;
	struct node_call *next; /* private */
	size_t sent;            /* private */
};

enum node_kind {
	NODE_SERVER,     /* the server at an address */
	NODE_SENTINEL,   /* the master that sentinels name */
	NODE_REPLICATION /* as NODE_SERVER, for calls without scripts */
};

struct node_opts {
	enum node_kind kind;
	struct redis_address address; /* not with sentinels */
	/*
	 * Called when it was connected or disconnected; NULL: not.  It must
	 * not free the node.
	 */
	void (*changed)(void *arg, bool up);
	void *arg;
};

/* Connect, and reconnect until it is freed. */
struct state_node *state_node_new(struct state *s, const struct node_opts *o);

/* End its calls and the connection for good; owners are notified at once. */
void state_node_stop(struct state_node *n);
void state_node_free(struct state_node *n);
bool state_node_up(const struct state_node *n); /* any thread */

/* The first attempt to connect has not ended. */
bool state_node_is_new(const struct state_node *n);

/* No call waits for it. */
bool state_node_is_idle(const struct state_node *n);

/* The client's version when it was connected last; its address then. */
uint32_t state_node_epoch(const struct state_node *n);
const struct redis_address *state_node_address(const struct state_node *n);

/* What waits for its replicas; NULL if nothing ever does. */
struct replication *state_node_replication(const struct state_node *n);

/*
 * state_node_submit(n, c):
 * Send c at the end of the loop's iteration.  Ends with c->rc: RC_OK, each
 * command has a reply; RC_TIMEOUT, RC_DOWN (nothing was sent), or RC_TOOBIG
 * (the reply of the first without one).  RC_RETRY: too much is waiting.
 */
enum rc state_node_submit(struct state_node *n, struct node_call *c) RC_CHECK;

/* state_node_wait(n, c): Block until c, just submitted, has ended. */
void state_node_wait(struct state_node *n, const struct node_call *c);

/* state_node_break(n, why): Close the connection and reconnect. */
void state_node_break(struct state_node *n, const char *why);

/*
 * state_node_verify(n): It has too few replicas, which an old master has that
 * came back during a failover: query the sentinels, if there are any and at
 * most about once a second, and leave it when they name another server.
 */
void state_node_verify(struct state_node *n);

/*
 * resp_put(out, args, n): Append a command in Redis' protocol.
 * resp_put_count(out, n), resp_put_args(out, args, n): The same in parts: the
 * number of arguments, then some of them.
 */
void resp_put(struct buf *out, const struct str *args, size_t n);
void resp_put_count(struct buf *out, size_t n);
void resp_put_args(struct buf *out, const struct str *args, size_t n);

/* ---- pipeline.c ---- */

/*
 * state_pipe_take(s): A pipeline of one command.
 * state_pipe_run_single(p, out): Run it, return it, and hand its reply over to
 *     the caller, who frees it; out may be NULL.  Returns the command's result.
 * state_pipe_put(p): Return one that is not run.
 */
struct state_pipe *state_pipe_take(struct state *s);
enum rc state_pipe_run_single(
    struct state_pipe *p, struct state_reply **out) RC_CHECK;
void state_pipe_put(struct state_pipe *p);

/* ---- pipe_attempt.c ---- */

/* state_pauses_end(s): Resume the fibers that wait before a retry. */
void state_pauses_end(struct state *s);

/* ---- replication.c ---- */

/*
 * replication_new(s, n): Of one server, while there is no connection to it.
 * replication_begin(r, a): Its connection was made, to the address a.
 * replication_end(r): It was closed: those that wait fail, from the loop.
 * replication_stop(r): The same at once.
 * replication_free(r): After its stop; NULL is allowed.
 */
struct replication *replication_new(struct state *s, struct state_node *n);
void replication_begin(struct replication *r, const struct redis_address *a);
void replication_end(struct replication *r);
void replication_stop(struct replication *r);
void replication_free(struct replication *r);

/* ---- reply.c ---- */

struct state_reply {
	enum state_kind kind;
	int64_t i;
	struct str s;
	struct state_reply *elem; /* an array's, n of them */
	size_t n;
	struct arena *owner; /* of a reply freed alone: its memory */
};

/* Where the parser puts replies; its private data. */
struct reply_sink {
	struct arena *a;
	bool over; /* a did not suffice */
};

/* reply_functions(f): The parser's callbacks. */
void reply_functions(struct redisReplyObjectFunctions *f);

/* reply_rc(r): What a reply means, as in state.h. */
enum rc reply_rc(const struct state_reply *r);

/* reply_error_is(r, code): Whether r is an error of that code (first word). */
bool reply_error_is(const struct state_reply *r, struct str code);

/*
 * reply_script_moving(r):
 * Whether r is the error of a script that found a computed key on the move to
 * another server.  Scripts find that out before they write anything.
 */
bool reply_script_moving(const struct state_reply *r);

/*
 * reply_unusable(r):
 * Whether r is an error that a new connection may not have: the server became
 * a replica, loads its data, or wants a password again.
 */
bool reply_unusable(const struct state_reply *r);

/* ---- bucket.c ---- */

#define BUCKET_TAG_MAX 8 /* NUL included */

/* bucket_of_token(token): The bucket of the id whose token it is. */
unsigned bucket_of_token(struct str token);

/* bucket_tag(bucket, dst): What keys have between braces, in dst. */
struct str bucket_tag(unsigned bucket, char dst[BUCKET_TAG_MAX]);

/* ---- bucket_timers.c ---- */

/*
 * bucket_timers_next(s, pattern, buckets, n, next):
 * The lowest score of the sorted set of each bucket; 0: it is empty, -1: it was
 * not read.  In one round trip; the first error.
 */
enum rc bucket_timers_next(struct state *s, const char *pattern,
    const unsigned *buckets, size_t n, struct wall *next) RC_CHECK;

/* ---- record.c: calls of scripts ---- */

#define SCRIPT_KEYS_MAX 13
#define SCRIPT_ARGS_MAX 520
#define SCRIPT_NUMS_MAX 8
#define SCRIPT_IDS_MAX  6
#define SCRIPT_PACK_MAX 4096

/* A call of a script under construction; large, and not to be copied. */
struct script_call {
	const struct state_script *script;
	enum rc rc; /* the first error */
	size_t n_keys, n_args, n_nums, n_ids;
	struct str keys[SCRIPT_KEYS_MAX];
	struct str args[SCRIPT_ARGS_MAX];
	char key_text[SCRIPT_KEYS_MAX][STATE_KEY_MAX];
	char num_text[SCRIPT_NUMS_MAX][STR_NUM_MAX];
	char id_text[SCRIPT_IDS_MAX][2 * ID_TOKEN_MAX + 1];
	bool packing;
	size_t n_packed;
	char packed[SCRIPT_PACK_MAX];
};

/* call_begin(c, script): A call without keys and arguments. */
void call_begin(struct script_call *c, const struct state_script *script);

/*
 * call_key(c, pattern, a, b):
 * The next of KEYS; a and b are the ids for its '%', as many as it has.
 */
void call_key(
    struct script_call *c, const char *pattern, struct str a, struct str b);

/* call_bucket_key(c, pattern, bucket): The same for state_bucket_key(). */
void call_bucket_key(
    struct script_call *c, const char *pattern, unsigned bucket);

/*
 * call_key_of(c, pattern, user, id):
 * The same for a key without the user's id: '#' is the user's bucket, and id is
 * for the only '%', if there is one.
 */
void call_key_of(
    struct script_call *c, const char *pattern, struct str user, struct str id);

/* call_run_key(c, pattern, run_id): The same in the bucket that a run names. */
void call_run_key(
    struct script_call *c, const char *pattern, struct str run_id);

/*
 * The next of ARGV: text, which must live until the call was made, and must
 * not be over max bytes; a number; an id's token; two ids' tokens with a
 * separator between them.
 */
void call_text(struct script_call *c, struct str text, size_t max);
void call_num(struct script_call *c, int64_t v);
void call_token(struct script_call *c, struct str id);
/* call_cursor(c, after): "<ms>:<token>", as two arguments; absent: after all of
 * a list that is read backwards.  RC_INVALID: it is neither. */
enum rc call_cursor(struct script_call *c, struct str after) RC_CHECK;
void call_tokens(struct script_call *c, struct str a, char sep, struct str b);

/*
 * call_pack(c), call_pack_end(c):
 * What is added between them is one argument of ARGV, once in a call, which
 * the script takes apart with cmsgpack.unpack(): that costs Redis a third of
 * as many arguments.  Numbers are numbers then, texts are copied, and all of
 * them take at most SCRIPT_PACK_MAX bytes.
 */
void call_pack(struct script_call *c);
void call_pack_end(struct script_call *c);

/*
 * call_run(s, c, want, out):
 * Call the script and return the code that its reply begins with, or why there
 * is none.  RC_BUG if it does not begin with an enum rc, or begins with RC_OK
 * and has less than want elements.  out may be NULL; *out may be NULL unless
 * RC_OK, and the caller frees it.
 */
enum rc call_run(struct state *s, struct script_call *c, size_t want,
    struct state_reply **out) RC_CHECK;

/*
 * call_replicated(s, c, mark, rc):
 * rc, the result of the call c; if c may write and not enough replicas have
 * what the master has by then, RC_UNREPLICATED instead of RC_OK, RC_TIMEOUT of
 * any other.  mark was taken before the call.  In call_run().
 *
 * call_is_done(rc): Whether it was executed, so that its reply counts.
 */
enum rc call_replicated(struct state *s, const struct script_call *c,
    struct state_mark mark, enum rc rc) RC_CHECK;
bool call_is_done(enum rc rc);

/* call_send(s, c, out): state_eval() of a call without an error. */
enum rc call_send(struct state *s, const struct script_call *c,
    struct state_reply **out) RC_CHECK;

/* call_queue(p, c): Queue the call; its keys and arguments are copied. */
enum rc call_queue(struct state_pipe *p, struct script_call *c) RC_CHECK;

/*
 * turn_call_keys(c, script, p):
 * Begin a call of a script of lib_turn_queue: the keys of the slot's queue,
 * process, session, events and turn.
 * turn_call(c, script, p):
 * The same, and the entry as first argument.
 */
void turn_call_keys(struct script_call *c, const struct state_script *script,
    const struct turn_slot *p);
void turn_call(struct script_call *c, const struct state_script *script,
    const struct turn_slot *p);

/*
 * turn_call_input(c, p, new, in, events):
 * The packed arguments of lib_turn_input.  RC_INVALID if one is out of its
 * range.
 * turn_call_texts(c, new, events):
 * What is left open, events, messages: each an argument.
 */
enum rc turn_call_input(struct script_call *c, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in,
    const struct turn_events *events) RC_CHECK;
void turn_call_texts(struct script_call *c, const struct session_new *new,
    const struct turn_events *events);

/* call_status(r, want): What call_run() returns for the reply r. */
enum rc call_status(const struct state_reply *r, size_t want) RC_CHECK;

/* ---- record.c: reading records ---- */

/* Reads values out of a reply; rc is the first error. */
struct record_reader {
	struct arena *a; /* texts are copied into it */
	enum rc rc;
};

/* A text; absent of nil. */
struct str record_text(struct record_reader *rd, const struct state_reply *r);

/* A number, as an integer or as text; 0 of nil. */
int64_t record_num(struct record_reader *rd, const struct state_reply *r);

/* The ids whose tokens a member "first:second" of a set has. */
void record_id_pair(struct record_reader *rd, struct str member,
    struct str *first, struct str *second);

/* The id whose token is r; absent of nil. */
struct str record_id(struct record_reader *rd, const struct state_reply *r);

/* The *n ids whose tokens are the elements of r, in rd->a; none after an error.
 */
struct str *record_ids(
    struct record_reader *rd, const struct state_reply *r, size_t *n);

/* record_end(rd, key): Its rc; RC_INVALID is logged with the record's key. */
enum rc record_end(const struct record_reader *rd, struct str key) RC_CHECK;

/* record_log_invalid(key, why): Log what was found instead of a record. */
void record_log_invalid(struct str key, struct str why);

/* ---- session.c ---- */

/*
 * session_append_fenced(s, k, turn, new, first):
 * As session_append(); with a turn (may be NULL) RC_CONFLICT unless it is the
 * head of the session's queue.
 */
enum rc session_append_fenced(struct state *s, const struct session_key *k,
    const struct turn_slot *turn, struct session_new new,
    int64_t *first) RC_CHECK;

/* session_notes_parse(rd, list, out): Of read_notes() in lib_run_notes. */
struct record_reader;
void session_notes_parse(struct record_reader *rd,
    const struct state_reply *list, struct session_notes *out);

/* The argument of scripts for what turns leave open; absent: unchanged. */
#define SESSION_PENDING_ARG(s) ((s).p == NULL ? STR("-") : (s))

/* ---- terminal_binding.c: the steps of binding ---- */

struct binding_begun {
	int64_t at;   /* ms, Redis' clock */
	bool existed; /* the terminal was among the user's */
};

/* What a terminal's record says; tokens, "" if it is not bound. */
struct binding_record {
	char user[ID_TOKEN_MAX], soul[ID_TOKEN_MAX];
	char before[ID_TOKEN_MAX]; /* the user's soul before; empty: none */
	char generation[STR_NUM_MAX];
	char broker[ID_MAX + 1];
	/* It is present until then (ms); 0: it is not; -1: not known. */
	int64_t until;
	int64_t at; /* when it was read or changed (ms) */
};

/*
 * binding_begin(s, b, begun): In the user's bucket, before the record.
 *     RC_NOENT, RC_RETRY as of terminal_bind().
 * binding_set(s, b, begun_at, if_unbound, previous): In the record; the token
 *     of the previous soul.  RC_CONFLICT; RC_RETRY: it began too long ago.
 * binding_read(s, terminal, ttl_ms, out): What the record says; ttl_ms of
 *     snapshots, 0: not known.
 * binding_end(s, terminal, b, previous, ticks): In the user's bucket, after the
 *     record.  RC_NOENT: there is no such soul any more.
 */
struct terminal_binding;
enum rc binding_begin(struct state *s, const struct terminal_binding *b,
    struct binding_begun *begun) RC_CHECK;
enum rc binding_set(struct state *s, const struct terminal_binding *b,
    int64_t begun_at, bool if_unbound, char previous[ID_TOKEN_MAX]) RC_CHECK;
enum rc binding_read(struct state *s, struct str terminal, int64_t ttl_ms,
    struct binding_record *out) RC_CHECK;
enum rc binding_end(struct state *s, struct str terminal,
    const struct binding_record *b, const char *previous, bool *ticks) RC_CHECK;

/*
 * binding_unset(s, terminal, user, soul, was): The record; soul absent: any.
 *     As of terminal_unbind_soul().
 * binding_unset_end(s, terminal, was): The bucket of the user in was, but for
 *     what was recorded there after was->at.
 */
enum rc binding_unset(struct state *s, struct str terminal, struct str user,
    struct str soul, struct binding_record *was) RC_CHECK;
enum rc binding_unset_end(struct state *s, struct str terminal,
    const struct binding_record *was) RC_CHECK;

/* ---- credential.c: the steps of a change ---- */

struct credential_change {
	struct str terminal;
	struct str tenant;              /* of a new identity; absent: none */
	bool is_new;                    /* the sets get the terminal */
	int64_t began;                  /* µs, Redis' clock */
	bool joined, joined_tenant;     /* it was no member of them before */
	char left_tenant[ID_TOKEN_MAX]; /* token, of an identity before */
};

/*
 * credential_begin(s, ch): The sets, and the entry that it is being changed.
 * credential_call_mint(c, cr): The call between the two, but for when it began.
 * credential_end(s, ch, changed): Count it; or it was not changed.
 */
struct credential;
enum rc credential_begin(
    struct state *s, struct credential_change *ch) RC_CHECK;
void credential_call_mint(struct script_call *c, const struct credential *cr);
enum rc credential_end(
    struct state *s, const struct credential_change *ch, bool changed) RC_CHECK;

/* ---- star.c ---- */

/* Room for the tokens of an identity. */
#define STAR_TEXT_MAX (3 * ID_TOKEN_MAX)

/* star_tokens(ids, n, dst): The tokens of n ids with ':' between them. */
enum rc star_tokens(
    const struct str *ids, size_t n, char dst[STAR_TEXT_MAX]) RC_CHECK;

/*
 * star_call_client(c, id): The next of KEYS: the record of an identity.
 * star_call_room(c, pattern, room): A key of an environment, in the bucket of
 * its identity.
 */
struct star_identity;
struct star_room;
void star_call_client(struct script_call *c, const struct star_identity *id);
void star_call_room(
    struct script_call *c, const char *pattern, const struct star_room *room);

/* star_read_token(rd, token): The id of a token, in rd->a. */
struct str star_read_token(struct record_reader *rd, struct str token);

/* ---- run.c ---- */

/* Fields of a record that lists have, too; all that the scripts reply. */
#define RUN_LIST_FIELDS 21
#define RUN_ALL_FIELDS  28

/*
 * run_call(c, script, run): Begin a call: the run, and its logs.
 * run_parse(rd, fields, first, n, out): n fields of a record, from the one at
 *     first.
 * run_call_record(s, c, run, a, out): call_run(), and the record that it
 *     replies.
 */
struct run_record;
void run_call(
    struct script_call *c, const struct state_script *script, struct str run);
void run_parse(struct record_reader *rd, const struct state_reply *fields,
    size_t first, size_t n, struct run_record *out);
enum rc run_call_record(struct state *s, struct script_call *c, struct str run,
    struct arena *a, struct run_record *out) RC_CHECK;

/*
 * run_why(r): The reason in a reply {CONFLICT, why, …}: a constant; absent if
 * it has none.
 */
struct str run_why(const struct state_reply *r);

/* ---- soul_delete.c ---- */

/*
 * The steps of soul_delete().
 * soul_delete_begin(s, user, id, terminals): The reply's element 1 has the
 *     tokens of those that may be bound to it.  RC_NOENT.
 * soul_delete_unbind(s, user, id, terminals, n, unbound): Those that still are.
 * soul_delete_end(s, user, id).
 */
enum rc soul_delete_begin(struct state *s, struct str user, struct str id,
    struct state_reply **terminals) RC_CHECK;
enum rc soul_delete_unbind(struct state *s, struct str user, struct str id,
    const struct str *terminals, size_t n, bool *unbound) RC_CHECK;
enum rc soul_delete_end(
    struct state *s, struct str user, struct str id) RC_CHECK;

/*
 * soul_delete_rest(s, user, souls):
 * Complete the deletions of these (tokens), which others have begun.
 */
void soul_delete_rest(
    struct state *s, struct str user, const struct state_reply *souls);

/* ---- soul_state.c ---- */

/* Format byte and version before the state's bytes. */
#define SOUL_BLOB_HEAD 9
#define SOUL_BLOB_MAX  (SOUL_BLOB_HEAD + SOUL_STATE_MAX)

/*
 * soul_blob(dst, version, bytes):
 * The string stored for a state (of at most SOUL_STATE_MAX bytes), in dst.  Its
 * first SOUL_BLOB_HEAD bytes differ for each version.
 */
struct str soul_blob(
    char dst[SOUL_BLOB_MAX], int64_t version, struct str bytes);

/*
 * soul_state_parse(r, st, a):
 * Version and bytes of such a string into *st, copied into a; version 0 if it
 * is none.  RC_TOOBIG if it does not fit.
 */
enum rc soul_state_parse(const struct state_reply *r, struct soul_state *st,
    struct arena *a) RC_CHECK;

#endif /* !STATE_STATE_INTERNAL_H */
