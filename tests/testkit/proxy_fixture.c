#include "testkit/proxy_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

#include "proxy/proxy_path.h"

/* A NUL in it would end a text. */
static const unsigned char fixture_secret[PROXY_SECRET_BYTES + 1] =
    "a secret of 32 bytes, as it is..";

static pthread_mutex_t fixture_lock = PTHREAD_MUTEX_INITIALIZER;
static struct buf fixture_last = BUF_INIT(64 * 1024 * 1024);

static void
fixture_write_files(const struct proxy_fixture *fx)
{
	char text[1024];

	ck_assert_int_eq(mkdir(tk_path("runs"), 0700), 0);
	tk_write_file(
	    tk_path("runs/proxy.secret"), (const char *)fixture_secret);
	tk_write_file(tk_path("key"), PROXY_FIXTURE_KEY "\n");
	snprintf(text, sizeof(text),
	    "{\"engines\":[{\"engine\":\"codex\",\"command\":[\"codex\"],"
	    "\"base_url\":\"http://127.0.0.1:%d/v1/\",\"key_file\":\"%s\"},"
	    "{\"engine\":\"gemini\",\"command\":[\"gemini\"],"
	    "\"base_url\":\"http://127.0.0.1:%d\",\"key_file\":\"%s\"},"
	    "{\"engine\":\"opencode\",\"command\":[\"opencode\"]}]}",
	    fx->provider.port, tk_path("key"), fx->provider.port,
	    tk_path("key"));
	tk_write_file(tk_path("engines.json"), text);
}

void
proxy_fixture_spawn(struct proxy_fixture *fx, const char *const *more)
{
	const char *argv[] = { tk_bin("engine-runner"), "proxy", NULL };
	struct tk_env e = { 0 };

	tk_env_list(&e, more);
	tk_env_put(&e, "ADMIN_ADDR=127.0.0.1:%d", fx->service.admin);
	tk_env_put(&e, "ENGINE_PROXY_ADDR=127.0.0.1:%d", fx->port);
	tk_env_put(&e, "RUNS_DIR=%s", tk_path("runs"));
	tk_env_put(&e, "ENGINES=%s", tk_path("engines.json"));
	tk_spawn(&fx->service.proc, "proxy", argv, e.v);
	tk_service_wait(&fx->service);
}

void
proxy_fixture_start(
    struct proxy_fixture *fx, raw_server_fn fn, const char *const *more)
{
	*fx = (struct proxy_fixture){ .port = tk_port() };
	fx->service.admin = tk_port();
	raw_server_open(&fx->provider, fn);
	fixture_write_files(fx);
	proxy_fixture_spawn(fx, more);
}

void
proxy_fixture_stop(struct proxy_fixture *fx)
{
	tk_service_end(&fx->service);
	raw_server_close(&fx->provider);
}

const char *
proxy_fixture_path(const char *run, int64_t epoch, int64_t budget)
{
	static char path[PROXY_PATH_MAX];
	struct proxy_grant g = { str_of(run), epoch, budget };

	ck_assert_int_eq(proxy_path_write(fixture_secret, &g, path), RC_OK);
	return path;
}

static const char *
fixture_target(const char *run)
{
	static char target[PROXY_PATH_MAX + 128];

	snprintf(target, sizeof(target), "%s%s",
	    proxy_fixture_path(run, 1, 1000000),
	    strstr(run, "gemini") != NULL
		? "/v1beta/models/m:streamGenerateContent?alt=sse"
		: "/responses");
	return target;
}

int
proxy_fixture_post(struct proxy_fixture *fx, struct tk_response *a,
    const char *run, const char *body)
{
	return tk_http_request(fx->port, a, "POST", fixture_target(run), body);
}

void
proxy_fixture_begin(struct proxy_fixture *fx, struct tk_http *c,
    const char *run, const char *body)
{
	tk_http_begin(c, fx->port, "POST", fixture_target(run), body);
}

const char *
proxy_fixture_request(void)
{
	static char *copy;

	free(copy);
	pthread_mutex_lock(&fixture_lock);
	copy = str_dup(buf_str(&fixture_last));
	pthread_mutex_unlock(&fixture_lock);
	return copy;
}

bool
proxy_fixture_receive(int fd)
{
	struct buf b = BUF_INIT(64 * 1024 * 1024);
	bool ok = raw_server_read(fd, &b);

	pthread_mutex_lock(&fixture_lock);
	if (ok) {
		buf_free(&fixture_last);
		fixture_last = b;
	}
	pthread_mutex_unlock(&fixture_lock);
	if (!ok)
		buf_free(&b);
	return ok;
}
