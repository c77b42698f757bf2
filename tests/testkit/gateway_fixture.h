/*
 * gateway_fixture: nats-server, Redis, emotion-engine and chat-gateway, and
 * HTTP clients of the gateway.  Its functions start with gw_; a failure fails
 * the test.
 */
#ifndef TESTKIT_GATEWAY_FIXTURE_H
#define TESTKIT_GATEWAY_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/terminal.h"
#include "testkit/http.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/testkit.h"

/* Longest wait for something that must happen. */
#define GW_MS 15000
/* Size of a soul's id. */
#define GW_SOUL_ID 64

struct gateway_fixture {
	struct tk_server nats, redis;
	struct tk_service gateway, engine;
	natsConnection *nc;
	struct tk_state db;
	struct terminal_writer writer;
};

/*
 * gateway_fixture_servers(b):            Start the servers only.
 * gateway_fixture_join(b, nats, redis):  The same, by these functions.
 * gateway_fixture_spawn(b, s, name, more): Start a service and wait until it is
 *                                        ready; more are variables, or NULL.
 * gateway_fixture_start_alone(b, more):  Servers and gateway.
 * gateway_fixture_start(b, more):        The same, and emotion-engine.
 * gateway_fixture_stop(b):               End all; services must drain and exit
 *                                        0.
 */
void gateway_fixture_servers(struct gateway_fixture *b);
void gateway_fixture_join(struct gateway_fixture *b,
    void (*nats)(struct tk_server *s), void (*redis)(struct tk_server *s));
void gateway_fixture_spawn(struct gateway_fixture *b, struct tk_service *s,
    const char *name, const char *const more[]);
void gateway_fixture_start_alone(
    struct gateway_fixture *b, const char *const more[]);
void gateway_fixture_start(struct gateway_fixture *b, const char *const more[]);
void gateway_fixture_stop(struct gateway_fixture *b);

/* gw_has_metric(b, text): Whether the gateway's metrics contain text. */
bool gw_has_metric(struct gateway_fixture *b, const char *text);

/*
 * One request on a connection of its own; body is JSON or NULL.
 * gw_send(b, c, …):    Send it only.
 * gw_request(b, a, …): Returns the status; *a as of tk_http_read().
 * gw_json(b, …):       The JSON of a response, which must be 200.
 * gw_ok(b, …):         The response must be 200.
 * gw_rejects(b, …, status, text): The response must be this error.
 */
void gw_send(struct gateway_fixture *b, struct tk_http *c, const char *method,
    const char *path, const char *body);
int gw_request(struct gateway_fixture *b, struct tk_response *a,
    const char *method, const char *path, const char *body);
json_t *gw_json(struct gateway_fixture *b, const char *method, const char *path,
    const char *body);
void gw_ok(struct gateway_fixture *b, const char *method, const char *path,
    const char *body);
void gw_rejects(struct gateway_fixture *b, const char *method, const char *path,
    const char *body, int status, const char *text);

/*
 * gw_response_json(a, status):      The JSON of a response of this status.
 * gw_check_error(a, status, text):  It must be this error, with code and trace.
 */
json_t *gw_response_json(const struct tk_response *a, int status);
void gw_check_error(const struct tk_response *a, int status, const char *text);

/*
 * gw_soul(b, user, name, id):        Create a soul; user NULL: the default.
 * gw_bind(b, a, user, terminal, soul): Returns the status of the binding.
 * gw_bind_ok(b, user, terminal, soul): It must be 200.
 * gw_online(b, terminal, is):        Set the terminal's presence.
 * gw_report_skills(b, terminal, skills, hint): Store a skills report; skills is
 *                                    a JSON array, hint may be NULL.
 */
void gw_soul(struct gateway_fixture *b, const char *user, const char *name,
    char id[GW_SOUL_ID]);
int gw_bind(struct gateway_fixture *b, struct tk_response *a, const char *user,
    const char *terminal, const char *soul);
void gw_bind_ok(struct gateway_fixture *b, const char *user,
    const char *terminal, const char *soul);
void gw_online(struct gateway_fixture *b, const char *terminal, bool is);
void gw_report_skills(struct gateway_fixture *b, const char *terminal,
    const char *skills, const char *hint);

/* ---- authentication ---- */

#define TOKEN_DEMO             "t-demo"
#define TOKEN_TENANT_DEMO      "t-twin"
#define TOKEN_ANN              "t-ann"
#define TOKEN_BOB              "t-bob"
#define TOKEN_ACME_ANN         "t-acme-ann"
#define TOKEN_ACME_EVE         "t-acme-eve"
#define TOKEN_LAMP             "t-lamp"
#define TOKEN_ACME_LAMP        "t-acme-lamp"
#define TOKEN_PROVISIONER      "t-provisioner"
#define TOKEN_ACME_PROVISIONER "t-acme-provisioner"
#define TOKEN_NOTIFIER         "t-notifier" /* of ann */
#define TOKEN_OPERATOR         "t-root"
#define TOKEN_ACME_OPERATOR    "t-acme-operator"

/* Members of a chat. */
#define GW_CHAT_INPUT            \
	"\"session_id\":\"s1\"," \
	"\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]"

/* gw_start_with_tokens(b): gateway_fixture_start() with these tokens. */
void gw_start_with_tokens(struct gateway_fixture *b);

/*
 * As their counterparts without _as, with a token (gw_request_as(): or NULL).
 * want of an error is the status, a blank, and a part of its text; NULL: the
 * request must succeed.
 * gw_mint_as(b, token, terminal, more): The response to creating an identity;
 *                                       more are further members, or "".
 * gw_bind_as(), gw_chat_*_as():         Through that terminal.
 */
int gw_request_as(struct gateway_fixture *b, struct tk_response *a,
    const char *token, const char *method, const char *path, const char *body);
json_t *gw_json_as(struct gateway_fixture *b, const char *token,
    const char *method, const char *path, const char *body);
void gw_ok_as(struct gateway_fixture *b, const char *token, const char *method,
    const char *path, const char *body);
void gw_rejects_as(struct gateway_fixture *b, const char *token,
    const char *method, const char *path, const char *body, const char *want);
void gw_soul_as(struct gateway_fixture *b, const char *token, const char *name,
    char id[GW_SOUL_ID]);
json_t *gw_mint_as(struct gateway_fixture *b, const char *token,
    const char *terminal, const char *more);
void gw_mint_ok_as(
    struct gateway_fixture *b, const char *token, const char *terminal);
void gw_bind_as(struct gateway_fixture *b, const char *token,
    const char *terminal, const char *soul, const char *want);
void gw_chat_rejects_as(struct gateway_fixture *b, const char *token,
    const char *terminal, const char *want);
void gw_chat_ok_as(
    struct gateway_fixture *b, const char *token, const char *terminal);

/* ---- audit events ---- */

/*
 * gw_audit_subscribe(b):      Subscribe to audit events.
 * gw_audit_next(sub, action): The next one, which must be of this action.
 */
natsSubscription *gw_audit_subscribe(struct gateway_fixture *b);
json_t *gw_audit_next(natsSubscription *sub, const char *action);

/* ---- memories ---- */

struct gateway_memory_fixture {
	struct gateway_fixture b;
	struct tk_service worker;
};

/*
 * gw_memory_worker(r): Start memory-worker.
 * gw_memory_start(r):  gateway_fixture_start() and memory-worker.
 * gw_memory_stop(r):   End all.
 * gw_put_memory(r, user, soul, id, text, ms): Store a memory created at ms.
 */
void gw_memory_worker(struct gateway_memory_fixture *r);
void gw_memory_start(struct gateway_memory_fixture *r);
void gw_memory_stop(struct gateway_memory_fixture *r);
void gw_put_memory(struct gateway_memory_fixture *r, const char *user,
    const char *soul, const char *id, const char *text, int64_t ms);

/* gw_items_n(j), gw_item_text(j, i): The "items" of a response. */
size_t gw_items_n(json_t *j);
const char *gw_item_text(json_t *j, size_t i);

#endif /* !TESTKIT_GATEWAY_FIXTURE_H */
