/*
 * Requests are handled with the lock held, on a thread per connection.
 */
#include "testkit/fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define FAKE_STORE_WAIT_MS 60000

/* Not decoded: tokens need no escapes. */
bool
fake_store_param(
    const struct fake_store_call *q, const char *name, char *dst, size_t size)
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

void
fake_store_reject(
    struct fake_store_call *q, int status, const char *member, const char *why)
{
	q->status = status;
	q->reply = json_pack("{ss}", member, why);
}

static void
fake_store_parse(struct buf *in, struct fake_store_call *q)
{
	char target[2048], *body, *mark;

	*q = (struct fake_store_call){ .status = 200 };
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

static bool
fake_store_respond(int fd, struct fake_store_call *q)
{
	char *text = q->reply != NULL ? json_dumps(q->reply, JSON_ENCODE_ANY)
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
	json_decref(q->reply);
	return sent;
}

void
fake_store_serve(struct raw_server *p, int fd, fake_store_fn fn)
{
	struct fake_store *f = (struct fake_store *)(void *)p;
	struct buf in = BUF_INIT(16 * 1024 * 1024);
	struct fake_store_call q;
	bool open = true;

	while (open && raw_server_read(fd, &in)) {
		pthread_mutex_lock(&f->lock);
		fake_store_parse(&in, &q);
		f->calls++;
		if (f->fail_n > 0) {
			f->fail_n--;
			fake_store_reject(&q, f->fail, "detail", "scripted");
		} else {
			fn(f, &q);
		}
		open = !f->disconnect;
		f->disconnect = false;
		pthread_mutex_unlock(&f->lock);
		if (open)
			open = fake_store_respond(fd, &q);
		else
			json_decref(q.reply);
		json_decref(q.body);
	}
	buf_free(&in);
}

void
fake_store_start(struct fake_store *f, raw_server_fn serve)
{
	*f = (struct fake_store){ 0 };
	raw_server_open(&f->peer, serve);
	ck_assert_int_eq(pthread_mutex_init(&f->lock, NULL), 0);
	f->rows = json_array();
}

void
fake_store_stop(struct fake_store *f)
{
	raw_server_close(&f->peer);
	json_decref(f->rows);
	pthread_mutex_destroy(&f->lock);
}

void
fake_store_fail(struct fake_store *f, int status, int n)
{
	pthread_mutex_lock(&f->lock);
	f->fail = status;
	f->fail_n = n;
	pthread_mutex_unlock(&f->lock);
}

size_t
fake_store_rows(struct fake_store *f)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = json_array_size(f->rows);
	pthread_mutex_unlock(&f->lock);
	return n;
}

struct fake_store_count {
	struct fake_store *f;
	size_t n;
};

static bool
fake_store_has(void *arg)
{
	struct fake_store_count *c = arg;

	return fake_store_rows(c->f) == c->n;
}

void
fake_store_wait(struct fake_store *f, size_t n)
{
	struct fake_store_count c = { f, n };

	ck_assert_msg(tk_until(fake_store_has, &c, FAKE_STORE_WAIT_MS),
	    "%zu rows, not %zu", fake_store_rows(f), n);
}

const char *
fake_store_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

void
fake_store_uuid(struct fake_store *f, char dst[40])
{
	snprintf(dst, 40, "7c0b2f8e-0000-4000-8000-%012x", ++f->made);
}

double
fake_store_similarity(const char *a, const char *b)
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
