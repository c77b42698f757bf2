/*
 * fake: what the stand-ins for Mem0 and Chroma share: a server on a thread of
 * its own for each connection, requests taken apart, answers, faults.
 */
#ifndef FAKE_H
#define FAKE_H

#include "integration/httpc/peer.h"
#include "talk.h"

struct fake {
	struct peer peer; /* first: its threads get it */
	pthread_mutex_t lock;
	json_t *rows;        /* what is stored */
	int fail, fail_n;    /* status of the next answers, and of how many */
	bool cut;            /* do it, and end the connection without a word */
	size_t asked;        /* requests */
	const char *key;     /* what must be said; NULL: nothing */
	bool old;            /* as servers of 2025 were */
	char collection[40]; /* Chroma: its id; "" there is none */
	char embedding[300]; /* Chroma: the collection's metadata, JSON */
	size_t dimension;
	unsigned made;
};

struct fake_ask {
	char method[8], path[1024], query[1024];
	const char *head; /* all of it, NUL-terminated */
	json_t *body;     /* NULL: none, or no JSON */
	int status;       /* of the answer */
	json_t *answer;   /* taken; NULL: the text null */
};

typedef void (*fake_fn)(struct fake *f, struct fake_ask *q);

/* A parameter of the query, percent-decoding left out: tokens need none. */
static inline bool
fake_param(const struct fake_ask *q, const char *name, char *dst, size_t size)
{
	char key[64];
	const char *p;
	size_t n;

	snprintf(key, sizeof(key), "%s=", name);
	for (p = q->query; p != NULL && *p != '\0'; p = strchr(p, '&')) {
		p += *p == '&';
		if (strncmp(p, key, strlen(key)) != 0)
			continue;
		p += strlen(key);
		n = strcspn(p, "&");
		snprintf(dst, size, "%.*s", (int)n, p);
		return true;
	}
	dst[0] = '\0';
	return false;
}

static inline void
fake_refuse(struct fake_ask *q, int status, const char *member, const char *why)
{
	q->status = status;
	q->answer = json_pack("{ss}", member, why);
}

static inline void
fake_parse(struct buf *in, struct fake_ask *q)
{
	char target[2048], *body, *mark;

	*q = (struct fake_ask){ .status = 200 };
	if (sscanf(in->p, "%7s %2047s", q->method, target) != 2)
		target[0] = '\0';
	mark = strchr(target, '?');
	if (mark != NULL)
		*mark++ = '\0';
	snprintf(q->path, sizeof(q->path), "%.1023s", target);
	snprintf(
	    q->query, sizeof(q->query), "%.1023s", mark != NULL ? mark : "");
	body = strstr(in->p, "\r\n\r\n");
	if (body != NULL) {
		q->body = json_loads(body + 4, JSON_ALLOW_NUL, NULL);
		body[2] = '\0';
	}
	q->head = in->p;
}

static inline bool
fake_answer(int fd, struct fake_ask *q)
{
	char *text = q->answer != NULL ? json_dumps(q->answer, JSON_ENCODE_ANY)
				       : mem_strdup("null");
	struct buf out = BUF_INIT(16 * 1024 * 1024);
	bool sent;

	buf_printf(&out,
	    "HTTP/1.1 %d x\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%s",
	    q->status, strlen(text), text);
	sent = send(fd, out.p, out.n, MSG_NOSIGNAL) == (ssize_t)out.n;
	buf_free(&out);
	free(text);
	json_decref(q->answer);
	return sent;
}

/* Serve a connection; fn is called with the lock held. */
static inline void
fake_serve(struct peer *p, int fd, fake_fn fn)
{
	struct fake *f = (struct fake *)(void *)p;
	struct buf in = BUF_INIT(16 * 1024 * 1024);
	struct fake_ask q;
	bool on = true;

	while (on && peer_read(fd, &in)) {
		pthread_mutex_lock(&f->lock);
		fake_parse(&in, &q);
		f->asked++;
		if (f->fail_n > 0) {
			f->fail_n--;
			fake_refuse(&q, f->fail, "detail", "as it was told");
		} else {
			fn(f, &q);
		}
		on = !f->cut;
		f->cut = false;
		pthread_mutex_unlock(&f->lock);
		if (on)
			on = fake_answer(fd, &q);
		else
			json_decref(q.answer);
		json_decref(q.body);
	}
	buf_free(&in);
}

static inline void
fake_start(struct fake *f, peer_fn serve)
{
	*f = (struct fake){ 0 };
	peer_open(&f->peer, serve);
	ck_assert_int_eq(pthread_mutex_init(&f->lock, NULL), 0);
	f->rows = json_array();
}

/* After those who are connected have gone. */
static inline void
fake_stop(struct fake *f)
{
	peer_close(&f->peer);
	json_decref(f->rows);
	pthread_mutex_destroy(&f->lock);
}

static inline void
fake_fail(struct fake *f, int status, int n)
{
	pthread_mutex_lock(&f->lock);
	f->fail = status;
	f->fail_n = n;
	pthread_mutex_unlock(&f->lock);
}

static inline size_t
fake_rows(struct fake *f)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = json_array_size(f->rows);
	pthread_mutex_unlock(&f->lock);
	return n;
}

struct fake_count {
	struct fake *f;
	size_t n;
};

static inline bool
fake_has(void *arg)
{
	struct fake_count *c = arg;

	return fake_rows(c->f) == c->n;
}

static inline void
fake_wait(struct fake *f, size_t n)
{
	struct fake_count c = { f, n };

	ck_assert_msg(tk_until(fake_has, &c, BED_MS), "%zu rows, not %zu",
	    fake_rows(f), n);
}

static inline const char *
fake_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

static inline void
fake_uuid(struct fake *f, char dst[40])
{
	snprintf(dst, 40, "7c0b2f8e-0000-4000-8000-%012x", ++f->made);
}

/* How alike two texts are: the share of a's pairs of bytes that b has. */
static inline double
fake_like(const char *a, const char *b)
{
	char pair[3] = { 0 };
	size_t i, n = 0, common = 0;

	for (i = 0; a[i] != '\0' && a[i + 1] != '\0'; i++) {
		memcpy(pair, a + i, 2);
		common += strstr(b, pair) != NULL;
		n++;
	}
	return n > 0 ? (double)common / (double)n : 0;
}

#endif /* !FAKE_H */
