/* The documents of the generator. */
#include "gen.h"

#define X                                                                 \
	"{\"title\":\"x\",\"description\":\"A message.\","                \
	"\"x-section\":\"1\",\"type\":\"object\",\"properties\":{\"a\":"  \
	"{\"description\":\"A | b.\",\"type\":\"integer\",\"minimum\":1," \
	"\"x-unit\":\"ms\"},\"b\":{\"$ref\":\"#/$defs/y\"}},"             \
	"\"required\":[\"a\"],\"$defs\":{\"y\":{\"description\":"         \
	"\"yes: it is, a text that is so long that it has to go on in a " \
	"second line\",\"type\":\"string\",\"enum\":[\"no\",\"1\",\"c d\"]}}}"
#define ERROR                                                                \
	"{\"title\":\"error\",\"description\":\"An error.\","                \
	"\"x-section\":\"1\",\"type\":\"object\",\"properties\":{\"error\":" \
	"{\"description\":\"Why.\",\"type\":\"string\",\"maxLength\":9}}}"
#define IFACE                                                                  \
	"{\"http\":[{\"name\":\"do_it\",\"method\":\"PUT\","                   \
	"\"path\":\"/v1/{id}\",\"roles\":[\"owner\",\"provisioner\"],"         \
	"\"owner\":\"o\",\"request\":\"x\","                                   \
	"\"response\":null,\"description\":\"Do it.\",\"section\":\"2\","      \
	"\"errors\":[{\"status\":400,\"text\":\"a|b\"},"                       \
	"{\"status\":400,\"text\":\"c\"}],\"query\":[{\"name\":\"q\","         \
	"\"description\":\"Q.\",\"required\":true}]}],"                        \
	"\"nats\":[{\"name\":\"ask\",\"subject\":\"s.{user}\","                \
	"\"kind\":\"request\",\"owner\":\"o\",\"from\":[\"p\",\"o\"],"         \
	"\"queue\":\"g\","                                                     \
	"\"request\":\"x\",\"reply\":\"error\",\"deadline_ms\":5,"             \
	"\"description\":\"Ask.\",\"section\":\"3\"}],"                        \
	"\"ws\":[{\"name\":\"w\",\"path\":\"/w/{id}\",\"owner\":\"o\","        \
	"\"receives\":[\"x\"],\"sends\":[\"x\",\"error\"],"                    \
	"\"description\":\"W.\",\"section\":\"6\"}],"                          \
	"\"mqtt\":[{\"name\":\"say\","                                         \
	"\"topic\":\"{prefix}/terminal/{terminal}/say\",\"from\":\"body\","    \
	"\"qos\":1,\"retain\":true,\"message\":\"x\","                         \
	"\"description\":\"Say.\",\"section\":\"4\"}],\"events\":[" EVENT "]," \
	"\"streams\":[" STREAM "],\"peers\":[" PEERS "],\"redis\":[" RECORD    \
	"]}"
#define EVENT                                   \
	"{\"type\":\"hush\",\"payload\":\"x\"," \
	"\"from\":[\"p\"],\"description\":\"Hush.\"}"
#define STREAM                                                      \
	"{\"name\":\"S\",\"holds\":\"ask\",\"manager\":\"o\","      \
	"\"consumers\":[\"p\"],\"readers\":[],\"viewers\":[\"p\"]," \
	"\"description\":\"Kept.\"}"
#define PEERS      PEER("o") "," PEER("p")
#define PEER(name) "{\"name\":\"" name "\",\"description\":\"One.\"}"
#define RECORD                                                                 \
	"{\"name\":\"r\",\"key\":\"r:{%}:\",\"kind\":\"hash\",\"of\":[\"a\"]," \
	"\"read\":[\"p\"],\"write\":[\"o\"],\"reads\":[\"HGET\"],"             \
	"\"writes\":[\"HSET\"],\"user_data\":\"none\",\"description\":\"R.\"}"

/* Run "wiregen verb" on x, error and the channels; returns one of its files. */
static char *
made(const char *verb, const char *name)
{
	struct path in = below("s");
	struct path out = below("out");
	char path[600];
	struct tk_proc p;
	size_t n;
	put_file("x.schema.json", X);
	put_file("error.schema.json", ERROR);
	put_file("interfaces.json", IFACE);
	(void)mkdir(out.text, 0700);
	const char *const argv[] = { WIREGEN, verb, in.text, out.text, NULL };
	tk_spawn(&p, "wiregen", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 10000), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", out.text, name);
	return tk_read_file(path, &n);
}

static char *
document(const char *name)
{
	return made("docs", name);
}

static void
has(const char *text, const char *part)
{
	ck_assert_msg(
	    strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

TEST(markdown_has_channels_and_members)
{
	char *text = document("INTERFACES.md");
	has(text,
	    "| `PUT /v1/{id}` | o | owner, provisioner | [x](#x) | – | 2 |\n");
	has(text, "| `q` | yes | Q. |\n");
	has(text, "| 400 | `a\\|b` |\n");
	has(text,
	    "| `s.{user}` | request | p, o | o | g | [x](#x) | "
	    "[error](#error) | 5 ms | 3 | Ask. |\n");
	has(text,
	    "| `{prefix}/terminal/{terminal}/say` | body | 1 | yes | "
	    "[x](#x) | 4 | Say. |\n");
	has(text,
	    "| `/w/{id}` | o | [x](#x) | [x](#x), [error](#error) | 6 | W. "
	    "|\n");
	has(text, "| `hush` | p | [x](#x) | Hush. |\n");
	has(text, "| `S` | ask | o | p | – | p | Kept. |\n");
	has(text, "| `r:{<a>}:` | hash | p | o | HGET | HSET | none | R. |\n");
	has(text, "### x\n\nA message.\n\nProtocol: 1.\n");
	has(text, "| `a` | integer | required | from 1, in ms | A \\| b. |\n");
	has(text, "| `b` | string | | `no`, `1`, `c d` | yes: it is, ");
	free(text);
}

TEST(openapi_is_yaml)
{
	char *text = document("openapi.yaml");
	has(text, "openapi: \"3.1.0\"\n");
	has(text,
	    "  \"/v1/{id}\":\n    put:\n      operationId: do_it\n"
	    "      tags:\n        - o\n      summary: Do it\n"
	    "      description: Do it.\n");
	has(text,
	    "      parameters:\n        - name: id\n"
	    "          in: path\n          required: true\n"
	    "          schema:\n            type: string\n"
	    "        - name: q\n          in: query\n");
	has(text, "        \"400\":\n          description: \"a|b | c\"\n");
	has(text, "      x-roles:\n        - owner\n        - provisioner\n");
	has(text, "        \"401\":\n          description: no access token");
	has(text, "        \"403\":\n");
	has(text, "        \"429\":\n");
	has(text, "  securitySchemes:\n    token:\n      type: http\n");
	has(text, "security:\n  - token: []\n");
	has(text,
	    "    x:\n      title: x\n      description: A message.\n"
	    "      x-section: \"1\"\n      type: object\n");
	has(text,
	    "        a:\n          description: \"A | b.\"\n"
	    "          type: integer\n          minimum: 1\n"
	    "          x-unit: ms\n");
	has(text, "          $ref: \"#/components/schemas/y\"\n");
	has(text,
	    "    \"y\":\n      description: >-\n"
	    "        yes: it is, a text that is so long that it has to go on "
	    "in a second line\n      type: string\n      enum:\n"
	    "        - \"no\"\n        - \"1\"\n        - c d\n");
	ck_assert_ptr_null(strstr(text, "$defs"));
	free(text);
}

TEST(asyncapi_has_bindings_and_replies)
{
	char *text = document("asyncapi.yaml");
	has(text, "  mqtt_say:\n    action: receive\n");
	has(text,
	    "    bindings:\n      mqtt:\n        qos: 1\n"
	    "        retain: true\n");
	has(text,
	    "  ws_w_sends:\n    action: send\n    channel:\n"
	    "      $ref: \"#/channels/ws_w\"\n");
	has(text, "    address: \"s.{user}\"\n");
	has(text, "    parameters:\n      user: {}\n");
	has(text, "  nats_ask_reply:\n    address: null\n");
	has(text, "    bindings:\n      nats:\n        queue: g\n");
	has(text, "    x-deadline-ms: 5\n");
	free(text);
}

TEST(routes_need_a_message_for_errors)
{
	struct path in = below("s");
	struct path out = below("out");
	struct tk_proc p;
	free(document("openapi.yaml"));
	put_file("interfaces.json",
	    "{\"http\":[{\"name\":\"a\",\"method\":\"GET\",\"path\":\"/a\","
	    "\"owner\":\"o\",\"roles\":[\"provisioner\"],\"request\":null,"
	    "\"response\":null,"
	    "\"description\":\"d\",\"section\":\"1\",\"errors\":[]}],"
	    "\"nats\":[],\"mqtt\":[],\"events\":[],\"streams\":[],"
	    "\"peers\":[],\"redis\":[]}");
	struct path error = below("s/error.schema.json");
	ck_assert_int_eq(unlink(error.text), 0);
	const char *const argv[] = { WIREGEN, "docs", in.text, out.text, NULL };
	tk_spawn(&p, "wiregen", argv, NULL);
	ck_assert_int_eq(tk_wait(&p, 10000), 1);
	ck_assert(tk_log_has(&p, "the message error"));
}

TEST(rights_on_nats_follow_from_the_rows)
{
	char *text = made("rights", "nats-permissions.conf");
	const char *p = strstr(text, "{ user: \"p\", password: $NATS_P, ");
	ck_assert_ptr_nonnull(p);
	/* o replies to p and itself, and owns the stream. */
	has(text,
	    "{ user: \"o\", password: $NATS_O, permissions: {\n"
	    "    publish: { allow: [\n"
	    "      \"$JS.API.STREAM.CREATE.S\"\n"
	    "      \"$JS.API.STREAM.INFO.S\"\n"
	    "      \"$JS.API.STREAM.UPDATE.S\"\n"
	    "      \"_INBOX.chat-gateway.>\"\n"
	    "      \"_INBOX.o.>\"\n"
	    "      \"_INBOX.operator.>\"\n"
	    "      \"_INBOX.p.>\"\n"
	    "      \"s.*\"\n"
	    "    ] }\n");
	has(p,
	    "    publish: { allow: [\n"
	    "      \"$JS.ACK.S.p.>\"\n"
	    "      \"$JS.API.CONSUMER.DURABLE.CREATE.S.p\"\n"
	    "      \"$JS.API.STREAM.CREATE.S\"\n"
	    "      \"$JS.API.STREAM.INFO.S\"\n"
	    "      \"$JS.API.STREAM.MSG.GET.S\"\n"
	    "      \"_INBOX.chat-gateway.>\"\n"
	    "      \"_INBOX.operator.>\"\n"
	    "      \"_INBOX.p.>\"\n"
	    "      \"s.*\"\n"
	    "    ] }\n");
	has(p, "      \"_INBOX.p.>\"\n      \"soul.deliver.S.p\"\n    ] }\n");
	free(text);
}

TEST(rights_in_redis_follow_from_the_rows)
{
	char *text = made("rights", "redis-users.acl");
	has(text,
	    "\nuser default reset off allcommands allkeys allchannels\n"
	    "user o reset on +ping");
	has(text,
	    " +time +role +wait +asking +cluster|slots +dbsize +hget +hset "
	    "~r:{*}:* (+evalsha ~soul:*)\nuser p ");
	has(text,
	    " +dbsize +hget %R~r:{*}:* (+evalsha ~soul:*)\nuser migrate ");
	has(text, " ~soul:*\nuser oper");
	free(text);
}
