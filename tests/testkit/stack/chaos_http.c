#include "testkit/stack/chaos_http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/str.h"

struct transfer {
	const struct chaos_http *r;
	struct buf *out;
	bool closed;
};

static size_t
on_part(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	buf_put(t->out, p, size * n);
	t->closed =
	    t->r->more != NULL && !t->r->more(t->r->arg, buf_str(t->out));
	return t->closed ? 0 : size * n;
}

static struct curl_slist *
http_head(const struct chaos_http *r)
{
	struct curl_slist *head =
	    curl_slist_append(NULL, "Content-Type: application/json");
	char parent[96];

	if (r->trace == NULL)
		return head;
	snprintf(parent, sizeof(parent),
	    "traceparent: 00-%s-00f067aa0ba902b7-01", r->trace);
	return curl_slist_append(head, parent);
}

int
chaos_http(int port, const struct chaos_http *r, struct buf *out)
{
	struct transfer t = { r, out, false };
	char *body = r->body != NULL ? json_dumps(r->body, 0) : NULL;
	struct curl_slist *head = http_head(r);
	CURL *c = curl_easy_init();
	long status = 0;
	char url[1024];
	CURLcode rc;

	buf_reset(out);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, r->path);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r->method);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, r->timeout_ms);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_part);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &t);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, head);
	if (body != NULL)
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
	rc = curl_easy_perform(c);
	if (rc == CURLE_OK || t.closed)
		curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(c);
	curl_slist_free_all(head);
	free(body);
	return (int)status;
}

json_t *
chaos_http_next(struct str *rest)
{
	struct str line;
	json_t *j;

	/* An incomplete line is not an event. */
	while (str_find(*rest, STR("\n")) >= 0) {
		line = str_split(rest, '\n');
		if (!str_starts(line, STR("data: ")))
			continue;
		j = json_loadb(line.p + 6, line.n - 6, 0, NULL);
		if (j != NULL)
			return j;
	}
	return NULL;
}
