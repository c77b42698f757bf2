/*
 * svc: the frame of a service: configuration, life cycle, requests.
 *
 * A service's main() is a table: options, routes, start and stop.  svc_main()
 * reads the configuration, opens the admin port, connects to NATS (unless the
 * service needs none), serves the routes over NATS and HTTP alike, and on
 * SIGTERM drains: not ready, accept no new requests, finish open ones, stop,
 * exit.
 *
 * Requests and replies are decoded, checked and encoded here by the schemas of
 * the route; handlers use structs.  Everything runs on the loop thread, but for
 * routes of a service that is on_worker.
 *
 * Besides running, a service has commands: "healthcheck", which is common to
 * all, and those of its table.
 *
 * Exit codes: 0; 64 wrong arguments; 78 wrong configuration, also of a server
 * that it needs; 69 an address is
 * taken; 70 it could not start, or could not drain in time; a command has its
 * own.
 */
#ifndef SVC_SVC_H
#define SVC_SVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/conf.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"

/* Opaque types. */
struct auth;
struct auth_caller;
struct buf;
struct bus;
struct bus_opts;
struct httpd_file;
struct httpd_tunnel;
struct svc;
struct svc_call;
struct svc_ws;
struct wire_desc;
struct wire_error;

/*
 * Handler of a route: owns c and ends it with svc_reply() or svc_fail(), now or
 * later on the loop.  app is what the service's start returned.
 */
typedef void (*svc_fn)(void *app, struct svc_call *c);

/*
 * An error text that the protocol prescribes: used when the member at path
 * (JSON Pointer) is missing or empty, or, with path "", when the body is not
 * valid.
 */
struct svc_text {
	const char *path;
	const char *text;
};

struct svc_route {
	const char *name;    /* in discovery and metrics: [a-z0-9_-]+ */
	const char *subject; /* NATS subject; NULL: not served over NATS */
	const char *method;  /* HTTP method; NULL: not served over HTTP */
	const char *path;    /* HTTP path, {…} for one segment */
	const struct wire_desc *request; /* NULL: no body */
	const struct wire_desc *reply;
	svc_fn fn;
	int64_t deadline_ms; /* for callers that give none */
	const struct svc_text *texts;
	size_t ntexts;
};

/* The arguments of a command. */
struct svc_run {
	const char *service;
	const void *arg;  /* of the command */
	const void *conf; /* the struct that opts fill */
	int argc;         /* as of main(); argv[0] is the command's name */
	char **argv;
	/* Where NATS is, for bus_new(); loop is not set.  NULL: no_bus. */
	const struct bus_opts *bus;
};

/*
 * "<service> <name> …": run in its own process, with the service's
 * configuration, whether the service runs or not.
 */
struct svc_command {
	const char *name;
	const char *usage;   /* what follows it, one form a line; "": nothing */
	const char *summary; /* one line */
	const char *help;    /* the rest of its --help, in lines */
	/*
	 * It reads its own configuration and has its own --help: svc_run has
	 * neither conf nor bus.
	 */
	bool alone;
	/*
	 * The exit code: 0; 1 it failed; 64 wrong arguments, with a message on
	 * stderr.  Its output goes through svc_out(); the log goes to stderr,
	 * from LOG_WARN up.
	 */
	int (*fn)(const struct svc_run *r);
	const void *arg; /* for fn */
};

struct svc_def {
	const char *name; /* of the service, its queue group, its log lines */
	const char *summary;      /* one line for --help and discovery */
	const char *http_addr;    /* default of HTTP_ADDR */
	const char *admin_addr;   /* default of ADMIN_ADDR */
	const char *drain_ms;     /* default of DRAIN_TIMEOUT_MS; NULL: 10000 */
	const char *http_workers; /* default of HTTP_WORKERS; NULL: 128, or
				     32 without HTTP routes */
	bool no_bus; /* needs no NATS: svc_bus() is NULL, no route on NATS */
	const struct conf_opt *opts;
	size_t nopts;
	size_t conf_size; /* of the struct that opts fill */
	const struct svc_route *routes;
	size_t nroutes;
	/*
	 * The files that HTTP clients get without authentication, as of conf;
	 * *n is how many.  They live as long as the process.  May be NULL.
	 */
	const struct httpd_file *(*files)(const void *conf, size_t *n);
	/*
	 * The tunnel at HTTP_ADDR, as of conf: path, to, protocol and max of
	 * out, which is zeroed.  May be NULL.
	 */
	void (*tunnel)(const void *conf, struct httpd_tunnel *out);
	const struct svc_ws *ws; /* WebSocket at HTTP_ADDR; NULL: none */
	const struct svc_command *commands; /* beside healthcheck */
	size_t ncommands;
	/*
	 * What is wrong with conf beyond what opts check, one line each into
	 * errors, beginning with the variable: all that would fail the start,
	 * so that --check-config finds it too.  Reads files, but does not
	 * connect.  Adds to known the variables that the configuration itself
	 * names, each with its newline.  May be NULL.
	 */
	void (*check)(const void *conf, struct buf *errors, struct buf *known);
	/*
	 * Build the service's own state; conf lives until stop returned.  NULL
	 * (after logging why) makes the program exit 70.
	 */
	void *(*start)(struct svc *s, const void *conf);
	/*
	 * Decode the request of a route into msg, of wire_desc_size(request)
	 * zeroed bytes, where that is cheaper than decoding all of it; called
	 * on the loop (or a worker, see on_worker), with nothing but
	 * checks of the caller, which do not wait, between it and the route's
	 * fn; on a worker fn is always called.  False: the request is decoded
	 * by its schema, which finds what is wrong, and fn may not be called.
	 * NULL: that is always done.
	 */
	bool (*decode)(void *app, struct svc_call *c, void *msg);
	/*
	 * On a worker, before decode(): end c at once, by what its body is,
	 * with at most 16 KiB of stack.  False: c has not ended; decode() is
	 * called next, and has svc_call_data().  May be NULL.
	 */
	bool (*reply_early)(void *app, struct svc_call *c);
	/*
	 * The routes are pure functions: a request over HTTP is decoded,
	 * handled and encoded on the HTTP worker that has read it, without a
	 * way through the loop.  Then fn, reply_early() and decode() run in
	 * parallel with themselves and with the loop.  They use the call, by
	 * the functions below that do not stream, and of the service only what
	 * is constant or locked for a moment; no Redis, no NATS, nothing that
	 * suspends a fiber.  fn ends the call before it returns, or leaves it
	 * to the loop (svc_call_to_loop()).  The stack of fn and decode() is
	 * that of a fiber.
	 *
	 * Metrics, the trace and error texts are the same on both ways; so are
	 * the limits of connections and addresses, which httpd has.  The
	 * deadline does not end fn, which must be bounded itself.  What needs
	 * the loop goes there: all requests where callers are authenticated,
	 * whose rates and costs it counts; those that are rejected for their
	 * Host or origin; bodies over 16 KiB that decode() does not take; all
	 * over NATS.
	 */
	bool on_worker;
	/*
	 * Append the body of an error over HTTP, with that status, in a form
	 * that is not ours; RC_NOENT: of this route it is.  May be NULL.
	 */
	enum rc (*put_error)(const struct svc_route *r,
	    const struct wire_error *e, int status, struct buf *out);
	/*
	 * The service is to end: end calls that would not end by themselves.
	 * Subscriptions deliver no more messages.  May be NULL.
	 */
	void (*drain)(void *app);
	/* Free it.  No call is open any more.  May be NULL. */
	void (*stop)(void *app);
};

/* svc_main(def, argc, argv): All of main(); returns the exit code. */
int svc_main(const struct svc_def *def, int argc, char *argv[]);

/*
 * svc_out(bytes):
 * For commands: write to stdout, unbuffered.  RC_DOWN: stdout is closed; the
 * command should end with 1 after an error message.
 */
enum rc svc_out(struct str bytes);

/* svc_version(): The suite's: "0.2.0" or "0.2.0+<commit>". */
const char *svc_version(void);

/* svc_name(s): As in its table. */
const char *svc_name(const struct svc *s);

/* The libraries' objects of a service; they outlive its state. */
struct loop *svc_loop(struct svc *s);
struct bus *svc_bus(struct svc *s);
struct metric_set *svc_metrics(struct svc *s);

/*
 * svc_auth(s):
 * The authentication of the HTTP routes; NULL if there is none.  During start a
 * service may add the tokens of terminals to it (auth_accept_terminals()).
 */
struct auth *svc_auth(struct svc *s);

/* svc_http_calls(s): HTTP requests that are served at a time. */
size_t svc_http_calls(const struct svc *s);

/* Dependencies that svc_require() can add. */
#define SVC_REQUIRE_MAX 8

/*
 * svc_require(s, name, up, arg):
 * /readyz is 200 only while up(arg); NATS is required anyway.  up runs on
 * another thread: it may read atomics only.  During start.
 */
void svc_require(
    struct svc *s, const char *name, bool (*up)(void *arg), void *arg);

/*
 * svc_ready_note(s, note, arg):
 * note(arg, out) adds lines to a /readyz that is 200, for an operator, although
 * the service can do its work.  It runs on another thread.  During start, once.
 */
void svc_ready_note(struct svc *s,
    void (*note)(const void *arg, struct buf *out), const void *arg);

/*
 * svc_end(s):
 * End as after SIGTERM: drain, then exit 0; it begins after the current
 * callback.  No-op while it drains.
 */
void svc_end(struct svc *s);

/*
 * svc_end_unusable(s):
 * End at once with the exit code of a wrong configuration, which the caller has
 * logged: something outside that only an operator can change.  For callbacks; s
 * is a struct svc.
 */
void svc_end_unusable(void *s);

/*
 * svc_hold(s), svc_release(s):
 * Work that is no call: a drain waits until as many are released as were held.
 */
void svc_hold(struct svc *s);
void svc_release(struct svc *s);

/*
 * A call that is answered as another route would, in another form: for
 * protocols that carry many requests over one route.
 */
struct svc_form {
	const struct svc_route *route; /* schemas of the reply */
	const void *request;           /* of route->request, or NULL */
	struct str param;              /* the only one of its path */
	struct str user_id;            /* as a query parameter; full */
	/* Others; a name of NULL ends them. */
	const struct svc_form_query {
		const char *name;
		struct str value;
	} * query;
	/*
	 * Append the response that stands for json, with which the route has
	 * ended, to out; its status.
	 */
	int (*put)(void *arg, int status, struct str json, struct buf *out);
	void *arg;
};

/*
 * svc_call_as(c, f):
 * From now on c is of f's route: request, path, query, no headers; f lives as
 * long as c.  The caller has checked access.  Over HTTP only.
 */
void svc_call_as(struct svc_call *c, const struct svc_form *f);

/* The decoded request (NULL without a schema), valid until the call ends. */
const void *svc_call_request(const struct svc_call *c);

/*
 * svc_call_set_data(c, data), svc_call_data(c):
 * What the service's decode() leaves for the route's fn; NULL at first.
 */
void svc_call_set_data(struct svc_call *c, void *data);
void *svc_call_data(const struct svc_call *c);

/*
 * svc_call_on_worker(c): Whether c runs on an HTTP worker (svc_def.on_worker).
 *
 * svc_call_to_loop(c):
 * Instead of ending c, which does, in fn or in decode(): fn is called on the
 * loop, with the request decoded anew.  The caller must return at once,
 * decode() with false.
 */
bool svc_call_on_worker(const struct svc_call *c);
void svc_call_to_loop(struct svc_call *c);

/* The request as received, valid until the call ends. */
struct str svc_call_body(const struct svc_call *c);

/*
 * The i-th {…} of the HTTP path, a query parameter; absent if there is none,
 * and over NATS.  Of an authenticated caller user_id is the full id, by default
 * the caller's own; so is user_id in the decoded request.  Of a terminal the
 * same holds for terminal_id.
 */
struct str svc_call_param(const struct svc_call *c, size_t i);
struct str svc_call_query(struct svc_call *c, const char *name);

/*
 * svc_call_has_query(c, name):
 * Whether the request itself has that parameter, for which svc_call_query() may
 * return a default.
 */
bool svc_call_has_query(struct svc_call *c, const char *name);

/* A header of the request; absent if there is none, and over NATS. */
struct str svc_call_header(const struct svc_call *c, const char *name);

/*
 * svc_call_on_abort(c, fn, arg):
 * Call fn(arg) once, on the loop, when the client of c has disconnected
 * (httpd_on_abort()), unless c has ended by then.  RC_DOWN if it has already.
 * Never over NATS.  Once for each call.
 */
enum rc svc_call_on_abort(
    struct svc_call *c, void (*fn)(void *arg), void *arg) RC_CHECK;

/* Memory that lives as long as the call. */
struct arena *svc_call_arena(struct svc_call *c);

/* When it arrived. */
struct mono svc_call_start(const struct svc_call *c);
/* When the caller stops waiting for the reply. */
struct wall svc_call_deadline(const struct svc_call *c);

/*
 * svc_call_caller(c):
 * The caller, over HTTP; NULL without authentication, and over NATS.  Before
 * the handler was called, it was checked that the caller's role may use the
 * route (wire_routes), and that the user that the request names, in its path or
 * query as user_id or in its body as /user_id, is the caller, unless that is an
 * operator or provisioner (of that user's tenant), or a notifier, who may name
 * the users of its token; a terminal may name no
 * terminal but itself.
 */
const struct auth_caller *svc_call_caller(const struct svc_call *c);

/*
 * svc_call_user(c, named):
 * The user that c is for: the full id of named, if that is absent the caller's;
 * named itself without authentication.  Absent for an authenticated caller that
 * is no user and names none, or may not act for named: such a call must be
 * rejected, never served for another user.  A terminal acts for the user it is
 * bound to, which the handler looks up.
 */
struct str svc_call_user(const struct svc_call *c, struct str named);

/* svc_call_address(c): The client's address; absent over NATS. */
struct str svc_call_address(const struct svc_call *c);

/* The trace this call belongs to; never NULL. */
const struct trace *svc_call_trace(const struct svc_call *c);

/*
 * svc_progress(c, msg):
 * Encode msg by the route's reply schema and send it as a partial reply.  No
 * effect over HTTP.
 */
void svc_progress(struct svc_call *c, const void *msg);

/* svc_done(c): End c without another reply, after svc_progress(). */
void svc_done(struct svc_call *c);

/*
 * svc_reply(c, msg):
 * Encode msg by the route's reply schema, reply and end c.  A message that
 * breaks the schema becomes a 500 and is logged.
 *
 * svc_reply_accepted(c, msg): The same with the HTTP status 202.
 */
void svc_reply(struct svc_call *c, const void *msg);
void svc_reply_accepted(struct svc_call *c, const void *msg);

/*
 * svc_encode(c, msg, out):
 * Make *out what svc_reply() would send, to be freed by the caller.  A message
 * that breaks the schema is logged, and an error.
 *
 * svc_reply_encoded(c, json):
 * Reply what svc_encode() has made, for this call or an earlier one of its
 * route, and end c.
 */
enum rc svc_encode(
    const struct svc_call *c, const void *msg, struct buf *out) RC_CHECK;
void svc_reply_encoded(struct svc_call *c, struct str json);

/*
 * svc_fail(c, rc, text):
 * Reply {"error": text, "code": rc_name(rc), "trace_id"} with the status of rc,
 * and end c.
 */
void svc_fail(struct svc_call *c, enum rc rc, const char *text);

/* An error without a result code. */
struct svc_error {
	int status; /* HTTP status */
	const char *code;
	const char *text;
};

/* svc_fail_as(c, e): As svc_fail(), with status and code of its own. */
void svc_fail_as(struct svc_call *c, const struct svc_error *e);

/* svc_fail_because(c, e, reason): The same with "reason"; NULL: without. */
void svc_fail_because(
    struct svc_call *c, const struct svc_error *e, const char *reason);

/*
 * svc_stream_admit(c):
 * Whether c, over HTTP, may have a streaming response: streams leave a quarter
 * of the connections to other requests, and a token and an address may have
 * STREAMS_PER_TOKEN and STREAMS_PER_ADDRESS of them.  Otherwise c is ended with
 * 503 or 429.  The stream counts until the connection is free again.  Once for
 * a call.
 */
bool svc_stream_admit(struct svc_call *c) RC_CHECK;

/*
 * Server-sent events instead of one response, over HTTP only:
 * svc_sse_start(c):      Begin; RC_INVALID over NATS, c is then as before.
 * svc_sse_send(c, event, id, data): One event; event and id may be NULL.
 * svc_sse_comment(c, text): A comment line.
 * svc_stream_pending(c): Bytes that wait for the reader.
 * svc_stream_end(c, rc): End c, counted as rc.
 * Sending fails as httpd_sse_send(): the reader is disconnected or far too
 * slow; c must still be ended.  svc_reply() and svc_fail() end a stream that
 * has begun too, but send nothing.
 */
enum rc svc_sse_start(struct svc_call *c) RC_CHECK;
enum rc svc_sse_send(struct svc_call *c, const char *event, const char *id,
    struct str data) RC_CHECK;
enum rc svc_sse_comment(struct svc_call *c, const char *text) RC_CHECK;
size_t svc_stream_pending(struct svc_call *c);
void svc_stream_end(struct svc_call *c, enum rc rc);

/*
 * JSON lines instead of one response, over HTTP only, as httpd_lines_start():
 * svc_lines_start(c):        Begin; RC_INVALID over NATS, c is then as before.
 * svc_lines_send(c, lines):  Whole lines, each with its end.  Fails as above.
 * svc_lines_truncate(c, rc): End c, counted as rc, so that the client sees that
 *                            the response is incomplete.
 * svc_stream_pending() and svc_stream_end() as above.
 */
enum rc svc_lines_start(struct svc_call *c) RC_CHECK;
enum rc svc_lines_send(struct svc_call *c, struct str lines) RC_CHECK;
void svc_lines_truncate(struct svc_call *c, enum rc rc);

/*
 * A response that its handler writes to the last byte, as httpd_raw_start() and
 * httpd_raw_send(); ended by svc_stream_end().  RC_INVALID over NATS.
 */
enum rc svc_raw_start(struct svc_call *c, int status, bool persistent) RC_CHECK;
enum rc svc_raw_send(struct svc_call *c, struct str bytes) RC_CHECK;

#endif /* !SVC_SVC_H */
