/*
 * token_command: "<service> token …": edits the file of AUTH_TOKENS.
 */
#include <stdio.h>
#include <string.h>

#include "auth/token_file.h"
#include "svc/svc_internal.h"

#define OUT_MAX  (4 * 1024 * 1024)
#define DAY_MS   86400000
#define DAYS_MAX 36500

/* Print a usage error. */
static int
token_usage(const struct svc_run *r, const char *why)
{
	fprintf(
	    stderr, "%s: %s; see \"%s --help\"\n", r->argv[0], why, r->argv[0]);
	return SVC_EXIT_USAGE;
}

static int
token_failed(const struct svc_run *r, const char *file, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", r->argv[0], file, why);
	return 1;
}

static bool
token_role(const char *name, enum wire_role *out)
{
	static const char *const names[] = { [WIRE_ROLE_OWNER] = "owner",
		[WIRE_ROLE_TERMINAL] = "terminal",
		[WIRE_ROLE_PROVISIONER] = "provisioner",
		[WIRE_ROLE_NOTIFIER] = "notifier",
		[WIRE_ROLE_OPERATOR] = "operator" };
	size_t i;

	/* Deprecated: the name of 0.1, accepted until 0.3.0. */
	if (strcmp(name, "maker") == 0)
		name = "provisioner";
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) == 0) {
			*out = (enum wire_role)i;
			return true;
		}
	}
	return false;
}

/* "user=ada" into the entry; false: it is none of these. */
static bool
token_option(struct auth_token_file_entry *e, const char *arg)
{
	struct str value = str_of(arg), key = str_split(&value, '=');
	int64_t days;

	if (value.p == NULL || value.n == 0)
		return false;
	if (str_eq(key, STR("user")))
		e->user = value;
	else if (str_eq(key, STR("users")))
		e->users = value;
	else if (str_eq(key, STR("tenant")))
		e->tenant = value;
	else if (str_eq(key, STR("terminal_id")))
		e->terminal_id = value;
	else if (str_eq(key, STR("name")))
		e->name = value;
	else if (str_eq(key, STR("days")) &&
	    str_to_i64(value, 1, DAYS_MAX, &days) == RC_OK)
		e->until.ms = clock_wall().ms / 1000 * 1000 + days * DAY_MS;
	else
		return false;
	return true;
}

static int
token_add(const struct svc_run *r)
{
	struct auth_token_file_entry e = { 0 };
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];
	int i;

	if (r->argc < 4)
		return token_usage(r, "add: a file and a role are required");
	if (!token_role(r->argv[3], &e.role))
		return token_usage(r,
		    "the role is owner, terminal, provisioner, notifier or "
		    "operator");
	for (i = 4; i < r->argc; i++) {
		if (!token_option(&e, r->argv[i]))
			return token_usage(r,
			    "after the role: user=, users=, tenant=, "
			    "terminal_id=, name= or days=, each with a value");
	}
	if (auth_token_file_add(r->argv[2], &e, token, why) != RC_OK)
		return token_failed(r, r->argv[2], why);
	fprintf(stderr,
	    "This is the token.  It cannot be shown again; the file has its "
	    "digest only:\n");
	if (svc_out(str_of(token)) != RC_OK || svc_out(STR("\n")) != RC_OK)
		return 1;
	return 0;
}

static int
token_list(const struct svc_run *r)
{
	struct buf out = BUF_INIT(OUT_MAX);
	char why[AUTH_TOKEN_FILE_ERROR_MAX];
	int code = 0;

	if (r->argc != 3)
		return token_usage(r, "list: a file is required");
	if (auth_token_file_list(r->argv[2], &out, why) != RC_OK)
		code = token_failed(r, r->argv[2], why);
	else if (svc_out(buf_str(&out)) != RC_OK)
		code = 1;
	buf_free(&out);
	return code;
}

static int
token_drop(const struct svc_run *r)
{
	struct buf out = BUF_INIT(OUT_MAX);
	char why[AUTH_TOKEN_FILE_ERROR_MAX];
	int code = 0;

	if (r->argc != 4)
		return token_usage(
		    r, "drop: a file, and a name or a digest are required");
	if (auth_token_file_remove(r->argv[2], str_of(r->argv[3]), &out, why) !=
	    RC_OK) {
		code = token_failed(r, r->argv[2], why);
	} else if (svc_out(STR("dropped ")) != RC_OK ||
	    svc_out(buf_str(&out)) != RC_OK) {
		code = 1;
	}
	buf_free(&out);
	return code;
}

static int
token_run(const struct svc_run *r)
{
	static const struct {
		const char *name;
		int (*fn)(const struct svc_run *r);
	} actions[] = { { "add", token_add }, { "list", token_list },
		{ "drop", token_drop } };
	const char *name = r->argc > 1 ? r->argv[1] : "";
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		if (strcmp(actions[i].name, name) == 0)
			return actions[i].fn(r);
	}
	return token_usage(r, "use add, list or drop");
}

const struct svc_command svc_token_command = {
	.name = "token",
	.usage = "add FILE ROLE [user=U] [tenant=T] [terminal_id=ID] "
		 "[name=N] [days=N]\n"
		 "list FILE\n"
		 "drop FILE NAME|DIGEST",
	.summary = "add, list and drop the access tokens of a file",
	.help =
	    "FILE is the file named by AUTH_TOKENS; services reload it within "
	    "seconds of a\n"
	    "change.  It contains the SHA-256 of each token, never the "
	    "token.\n\n"
	    "  add    creates a token and prints it; it cannot be shown "
	    "again.  "
	    "Creates FILE\n"
	    "         (mode 0600) if missing.  The service's user must be able "
	    "to read it.\n"
	    "  list   prints the digest, role, expiry, subject and name of "
	    "each\n"
	    "  drop   removes a token; it stops working within seconds.  "
	    "DIGEST "
	    "is at least\n"
	    "         the first 8 digits.\n\n"
	    "  ROLE   owner        user=U has souls and bodies\n"
	    "         terminal     the body terminal_id=ID chats as itself\n"
	    "         provisioner  creates identities of bodies (was: maker)\n"
	    "         operator     acts for any user; with tenant=T only for "
	    "those of T\n"
	    "  tenant=T  users of T are T/U everywhere, separate from all "
	    "others\n"
	    "  name=N    name of the token, for list and drop\n"
	    "  days=N    lifetime in days; without it, the token does not "
	    "expire\n\n"
	    "Exit codes: 0, 1 failure, 64 arguments.\n",
	.fn = token_run,
};
