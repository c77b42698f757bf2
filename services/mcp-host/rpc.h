/*
 * rpc: JSON-RPC 2.0, as MCP servers write and read it.
 *
 * Pure.  Messages are validated in one pass, and their parts are slices of the
 * text; no tree is built.
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct buf;

/* Messages of one batch. */
#define RPC_BATCH_MAX 1024

/* Error codes. */
#define RPC_INVALID_REQUEST     (-32600)
#define RPC_UNKNOWN_METHOD      (-32601)
#define RPC_INVALID_PARAMS      (-32602)
#define RPC_INTERNAL            (-32603)
#define RPC_UNSUPPORTED_VERSION (-32022)

enum rpc_kind {
	RPC_REQUEST,      /* of the server: it must get a response */
	RPC_NOTIFICATION, /* of the server */
	RPC_RESULT,       /* to a request of ours */
	RPC_ERROR         /* likewise */
};

struct rpc_message {
	enum rpc_kind kind;
	struct str id_json; /* as written; absent: a notification */
	int64_t id;         /* of a response to us; 0: none of ours */
	struct str method;  /* of requests and notifications, unescaped */
	struct str params;  /* JSON; absent: none */
	struct str result;  /* JSON */
	int64_t code;       /* of an error */
	struct str error;   /* its text, as inside a JSON string */
	struct str data;    /* its data: JSON; absent: none */
	/* Of notifications about a request of ours, and of params. */
	int64_t progress_token;     /* 0: none of ours */
	struct str progress, total; /* numbers as JSON; absent: none */
	struct str progress_text;   /* as inside a JSON string; absent: none */
};

struct rpc_reader;

/* rpc_reader_new(), rpc_reader_free(r): Any number of connections share one. */
struct rpc_reader *rpc_reader_new(void);
void rpc_reader_free(struct rpc_reader *r);

/*
 * rpc_read(r, json, batches, fn, arg):
 * Call fn(arg, m) for the message json, or for each of a batch if batches are
 * allowed; elements of a batch that are none are skipped.  *m lives until fn
 * returns.  Integers beyond 64 bits are read as reals.  RC_INVALID: it is no
 * message; RC_TOOBIG: over RPC_BATCH_MAX, the first of which fn has got.
 */
enum rc rpc_read(struct rpc_reader *r, struct str json, bool batches,
    void (*fn)(void *arg, const struct rpc_message *m), void *arg) RC_CHECK;

/*
 * Each appends one message, on one line without its end.  params, result and
 * id_json are valid JSON; absent params are omitted.
 */
void rpc_write_request(
    struct buf *out, int64_t id, const char *method, struct str params);
void rpc_write_notification(
    struct buf *out, const char *method, struct str params);
void rpc_write_result(struct buf *out, struct str id_json, struct str result);
void rpc_write_error(
    struct buf *out, struct str id_json, int code, const char *text);

/* rpc_put_line(out, json): Append valid JSON without its line breaks. */
void rpc_put_line(struct buf *out, struct str json);

/*
 * rpc_put_reals(out, json):
 * Append json with its integers that may be beyond 64 bits as reals, which is
 * all that most languages know of them; false: there are none.
 */
bool rpc_put_reals(struct buf *out, struct str json);

/*
 * rpc_member(json, key):
 * The value of an object's member, as written; absent: there is none, or json
 * is no object.  Of valid JSON.
 */
struct str rpc_member(struct str json, struct str key);

/* rpc_text(json, out): Append the text of a JSON string; false: it is none. */
bool rpc_text(struct str json, struct buf *out);

#endif /* !RPC_H */
