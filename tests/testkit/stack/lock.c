/* The files of the deployment, adapted in the test's folder. */
#include "testkit/stack/lock.h"

#include <mosquitto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/broker.h"
#include "testkit/rights.h"
#include "testkit/stack/client.h"
#include "testkit/stack/secrets.h"
#include "testkit/stack/sign.h"

#define BODIES_MAX 32
#define TEXT_MAX   (64UL * 1024)

#define BRIDGE_PASSWORD "secret-of-the-bridge"

static const struct {
	const char *token, *role, *user, *tenant, *terminal, *expires;
} known[LOCK_WHO] = {
	[LOCK_OPERATOR] = { "token-of-operator-4f1c", "operator" },
	[LOCK_WATCHER] = { "token-of-watcher-77aa", "operator" },
	[LOCK_PROVISIONER] = { "token-of-provisioner-0be1", "provisioner" },
	[LOCK_DEMO] = { "token-of-demo-user-91cd", "owner", STACK_USER },
	[LOCK_ADA] = { "token-of-ada-3a77", "owner", "ada" },
	[LOCK_MALLORY] = { "token-of-mallory-66d0", "owner", "mallory" },
	[LOCK_MALLORY_TOO] = { "token-of-mallory-too-12", "owner", "mallory" },
	[LOCK_LAMP] = { "token-of-lamp-1-5e5e", "terminal",
	    .terminal = "lamp-1" },
	[LOCK_ACME_OPERATOR] = { "token-of-acme-operator-8", "operator",
	    .tenant = "acme" },
	[LOCK_ACME_PROVISIONER] = { "token-of-acme-provisioner-2b",
	    "provisioner", .tenant = "acme" },
	[LOCK_ACME_ADA] = { "token-of-acme-ada-9d", "owner", "ada", "acme" },
	[LOCK_GLOBEX_OPERATOR] = { "token-of-globex-operator", "operator",
	    .tenant = "globex" },
	[LOCK_GLOBEX_PROVISIONER] = { "token-of-globex-provisioner-1",
	    "provisioner", .tenant = "globex" },
	[LOCK_GLOBEX_ADA] = { "token-of-globex-ada-c4", "owner", "ada",
	    "globex" },
	[LOCK_EXPIRED] = { "token-of-yesterday-ee", "owner", "ada",
	    .expires = "2020-01-01T00:00:00Z" },
};

static struct body_key {
	char terminal[64], password[64], token[320];
} keys[BODIES_MAX];
static size_t n_keys;

const char *
lock_token(enum lock_who who)
{
	return known[who].token;
}

/* ---- files ---- */

static void
put_member(json_t *j, const char *name, const char *value)
{
	if (value != NULL)
		json_object_set_new(j, name, json_string(value));
}

static void
write_tokens(void)
{
	json_t *list = json_array(), *all, *one;
	struct auth_digest d;
	char hex[2 * AUTH_DIGEST_BYTES + 1], *text;
	size_t i, k;

	for (i = 0; i < LOCK_WHO; i++) {
		d = auth_digest_of(str_of(known[i].token));
		for (k = 0; k < AUTH_DIGEST_BYTES; k++)
			snprintf(hex + 2 * k, 3, "%02x", d.bytes[k]);
		one = json_pack("{ssss}", "sha256", hex, "role", known[i].role);
		put_member(one, "user", known[i].user);
		put_member(one, "tenant", known[i].tenant);
		put_member(one, "terminal_id", known[i].terminal);
		put_member(one, "expires_at", known[i].expires);
		json_array_append_new(list, one);
		secrets_note(known[i].token);
	}
	all = json_pack("{so}", "tokens", list);
	text = json_dumps(all, 0);
	tk_write_file(tk_path("tokens.json"), text);
	free(text);
	json_decref(all);
}

/* ---- servers ---- */

static void
write_broker(struct stack *st, const char *path)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	tk_broker_put(&b, "mosquitto.conf");
	buf_printf(&b,
	    "persistence_location %s/\nuser root\nlog_dest stderr\n"
	    "connection_messages false\n",
	    tk_dir());
	tk_broker_put(&b, "mosquitto-secure.conf");
	st->server[STACK_MQTT].port = tk_broker_move(&b, 1883);
	st->lock.services = tk_broker_move(&b, 1884);
	st->lock.witness = tk_port();
	buf_printf(&b, "listener %d 127.0.0.1\nallow_anonymous true\n",
	    st->lock.witness);
	buf_putc(&b, '\0');
	tk_write_file(path, b.p);
	buf_free(&b);
}

static void
write_services(void)
{
	char hash[AUTH_HASH_MAX], line[AUTH_HASH_MAX + 32];

	auth_secret_hash(STR(BRIDGE_PASSWORD), hash);
	snprintf(line, sizeof(line), "mqtt-bridge:%s\n", hash);
	tk_write_file(tk_path("mosquitto.services"), line);
	tk_write_file(tk_path("mosquitto.users"), "");
}

static bool
broker_runs(void *arg)
{
	struct stack *st = arg;

	return tk_port_open(st->server[STACK_MQTT].port) &&
	    tk_port_open(st->lock.services) && tk_port_open(st->lock.witness) &&
	    tk_log_has(&st->server[STACK_MQTT].proc, "running");
}

static void
start_broker(struct stack *st)
{
	struct tk_server *s = &st->server[STACK_MQTT];
	const char *v[] = { "mosquitto", "-c", tk_path("broker.conf"), NULL };

	write_services();
	write_broker(st, v[2]);
	s->kind = TK_MOSQUITTO_PERSISTENT;
	snprintf(s->url, sizeof(s->url), "mqtt://127.0.0.1:%d", s->port);
	tk_spawn(&s->proc, "mosquitto", v, NULL);
	ck_assert(tk_until(broker_runs, st, STACK_MS));
}

static void
start_passwords(struct stack *st)
{
	char pid[16], redis[128];
	const char *v[] = { tk_bin("mqtt-bridge"), "passwords", "--file",
		tk_path("mosquitto.users"), "--pid", pid, NULL };
	const char *env[] = { redis, NULL };

	snprintf(pid, sizeof(pid), "%d", (int)st->server[STACK_MQTT].proc.pid);
	snprintf(redis, sizeof(redis),
	    "REDIS_URL=redis://mqtt-bridge:" TK_PASSWORD "mqtt-bridge@%s",
	    st->server[STACK_REDIS].url + strlen("redis://"));
	tk_spawn(&st->lock.passwords, "passwords", v, env);
}

void
lock_servers(struct stack *st)
{
	tk_rights_closed(&st->server[STACK_NATS], &st->server[STACK_REDIS]);
	write_tokens();
	sign_begin(tk_path("jwks.json"));
	start_broker(st);
	start_passwords(st);
}

int
lock_end(struct stack *st)
{
	tk_signal(&st->lock.passwords, SIGTERM);
	return tk_wait(&st->lock.passwords, STACK_MS);
}

/* ---- services ---- */

size_t
lock_env(struct stack *st, enum stack_service i, struct arena *a,
    const char **env, size_t n)
{
	if (i == STACK_MQTT_BRIDGE) {
		env[n++] = arena_printf(a,
		    "MQTT_BROKER_URL=mqtt://mqtt-bridge:" BRIDGE_PASSWORD
		    "@127.0.0.1:%d",
		    st->lock.services)
			       .p;
	} else if (i == STACK_BODY_SIM) {
		env[n++] = "MQTT_USERNAME=" STACK_BODY;
		env[n++] = arena_printf(
		    a, "MQTT_PASSWORD=%s", lock_password(STACK_BODY))
			       .p;
	}
	if (i == STACK_LLM_SIM || st->service[i].http == 0)
		return n;
	env[n++] = arena_printf(a, "AUTH_TOKENS=%s", tk_path("tokens.json")).p;
	if (i == STACK_CHAT_GATEWAY) {
		env[n++] =
		    arena_printf(a, "AUTH_JWKS=%s", tk_path("jwks.json")).p;
		env[n++] = "AUTH_ISSUER=" SIGN_ISSUER;
		env[n++] = "AUTH_AUDIENCE=" SIGN_AUDIENCE;
	}
	return n;
}

/* ---- terminals ---- */

static struct body_key *
key_of(const char *terminal)
{
	size_t i;

	for (i = 0; i < n_keys; i++)
		if (strcmp(keys[i].terminal, terminal) == 0)
			return &keys[i];
	return NULL;
}

const char *
lock_password(const char *terminal)
{
	struct body_key *k = key_of(terminal);

	ck_assert_msg(k != NULL, "%s was not minted", terminal);
	return k->password;
}

const char *
lock_body_token(const char *terminal)
{
	struct body_key *k = key_of(terminal);

	ck_assert_msg(k != NULL, "%s was not minted", terminal);
	return k->token;
}

/* Store the secrets of a response. */
static void
write_files(const char *terminal, json_t *j)
{
	struct body_key *k = key_of(terminal);

	if (k == NULL) {
		ck_assert_uint_lt(n_keys, BODIES_MAX);
		k = &keys[n_keys++];
	}
	snprintf(k->terminal, sizeof(k->terminal), "%s", terminal);
	snprintf(
	    k->password, sizeof(k->password), "%s", tk_text(j, "password"));
	snprintf(k->token, sizeof(k->token), "%s", tk_text(j, "token"));
	secrets_note(k->password);
	json_decref(j);
}

void
lock_mint(struct stack *st, const char *terminal, const char *user)
{
	json_t *body = json_pack("{ss}", "terminal_id", terminal);

	if (user != NULL)
		json_object_set_new(body, "user_id", json_string(user));
	write_files(terminal, client_ok(st, "POST", "/v1/terminals", body));
}

void
lock_rotate(struct stack *st, const char *terminal)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/terminals/%s/rotate", terminal);
	write_files(terminal, client_ok(st, "POST", path, json_object()));
}

static void
on_response(struct mosquitto *m, void *arg, int rc)
{
	(void)m;
	*(int *)arg = rc;
}

bool
lock_lets_in(struct stack *st, const char *user, const char *password)
{
	int answer = -1;
	struct mosquitto *m;

	(void)mosquitto_lib_init();
	m = mosquitto_new(NULL, true, &answer);
	ck_assert_ptr_nonnull(m);
	mosquitto_connect_callback_set(m, on_response);
	if (user != NULL)
		(void)mosquitto_username_pw_set(m, user, password);
	if (mosquitto_connect(
		m, "127.0.0.1", st->server[STACK_MQTT].port, 60) == 0)
		while (answer == -1 &&
		    mosquitto_loop(m, 100, 1) == MOSQ_ERR_SUCCESS)
			;
	mosquitto_destroy(m);
	return answer == 0;
}

struct knows {
	struct stack *st;
	size_t n;
};

/* Each of them exactly once. */
static bool
broker_knows(void *arg)
{
	struct knows *k = arg;

	while (k->n < n_keys &&
	    lock_lets_in(k->st, keys[k->n].terminal, keys[k->n].password))
		k->n++;
	return k->n == n_keys;
}

void
lock_bodies(struct stack *st)
{
	struct knows k = { st, 0 };

	client_set_identity(lock_token(LOCK_OPERATOR), NULL);
	lock_mint(st, STACK_BODY, STACK_USER);
	lock_mint(st, LOCK_VICTIM, "ada");
	lock_mint(st, LOCK_EVIL, "mallory");
	lock_mint(st, LOCK_OTHER, "mallory");
	lock_mint(st, LOCK_ACME, "acme/ada");
	ck_assert(tk_until(broker_knows, &k, STACK_MS));
}
