/*
 * provider: one of a client's providers: its options, how it is spoken to, and
 * how it has been doing.  Private.
 */
#ifndef LLM_PROVIDER_H
#define LLM_PROVIDER_H

#include <stdatomic.h>

#include "core/buf.h"
#include "core/metric.h"
#include "llm/accum.h"
#include "llm/breaker.h"
#include "llm/llm.h"
#include "wire/tree.h"

/* Header lines of a request. */
#define PROVIDER_HEADERS_MAX 4

#define PROVIDER_UNTRIED (-1)
/* It failed for a reason that has no name. */
#define PROVIDER_FAILED (-2)

struct provider {
	struct llm_provider o; /* its texts are those below */
	char *name, *model, *member;
	struct wire_tree *body;
	char *url;
	char *by; /* "<name>/<model>", for struct extra */
	const char *headers[PROVIDER_HEADERS_MAX]; /* the first: Accept */
	size_t nheaders;
	char *key_header; /* a header line, or NULL */
	struct breaker breaker;
	enum rc last_rc; /* why the breaker opened */
	enum llm_reason last_reason;
	char *shown; /* its address, for people: no user, no query */
	/* What came of the last call: PROVIDER_UNTRIED, or enum llm_reason. */
	atomic_int state;
	struct metric *attempts, *failures, *retries, *fallbacks, *open;
};

/*
 * A dialect: how requests are written and answers read.
 *   write   the body of the request; RC_TOOBIG if out is full
 *   event   one event of a stream into m; *delta is new text to be shown
 *   answer  an answer in one piece
 * The last two are RC_INVALID with *why set for what is not of this dialect,
 * RC_TOOBIG over a ceiling.
 */
typedef enum rc (*dialect_write_fn)(
    const struct provider *p, const struct llm_chat *chat, struct buf *out);
typedef enum rc (*dialect_event_fn)(struct accum *m, const struct wire_tree *v,
    struct str *delta, const char **why);
typedef enum rc (*dialect_answer_fn)(
    struct accum *m, const struct wire_tree *v, const char **why);

struct dialect {
	const char *path; /* behind base_url */
	dialect_write_fn write;
	dialect_event_fn event;
	dialect_answer_fn answer;
};
extern const struct dialect openai_dialect, anthropic_dialect;

/* provider_dialect(p): That of its kind. */
const struct dialect *provider_dialect(const struct provider *p);

/*
 * provider_init(p, o, metrics): RC_INVALID as llm_new(); provider_free() it in
 * any case.
 */
enum rc provider_init(struct provider *p, const struct llm_provider *o,
    struct metric_set *metrics) RC_CHECK;
void provider_free(struct provider *p);

/* provider_has(p, key): Whether its options say what the member key is. */
bool provider_has(const struct provider *p, const char *key);

/* provider_put_body(p, o): Write the members that its options add. */
void provider_put_body(const struct provider *p, struct wire_out *o);

#endif /* !LLM_PROVIDER_H */
