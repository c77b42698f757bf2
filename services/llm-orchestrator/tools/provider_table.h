/*
 * provider_table: the providers of tools that may be requested, which of them
 * are present, and a cache of their lists.
 *
 * Pure, with time as an argument; loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_PROVIDER_TABLE_H
#define LLM_ORCHESTRATOR_PROVIDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Providers of one configuration. */
#define PROVIDERS_MAX 8
/* Longest name of one. */
#define PROVIDER_NAME_MAX 64
/* For how long an announcement counts. */
#define PROVIDER_PRESENT_MS 15000
/* For how long a list is used. */
#define PROVIDER_LIST_MS 60000

struct provider_table;
struct tool_list;

/*
 * provider_names_error(names):
 * What is wrong with a list of names, separated by commas; NULL: nothing.
 */
const char *provider_names_error(struct str names);

/*
 * provider_table_new(names, max_bytes):
 * For a list without an error; the cache takes about max_bytes.
 * provider_table_free(t): NULL is allowed.
 */
struct provider_table *provider_table_new(struct str names, size_t max_bytes);
void provider_table_free(struct provider_table *t);

/* provider_table_n(t), provider_table_name(t, i): The providers, in order. */
size_t provider_table_n(const struct provider_table *t);
struct str provider_table_name(const struct provider_table *t, size_t i);

/*
 * provider_table_announce(t, m, now):
 * A provider has announced itself.  One that names a user drops the lists that
 * all providers have for the user.
 */
void provider_table_announce(struct provider_table *t,
    const struct wire_tool_present *m, struct mono now);

/*
 * provider_table_is_present(t, i, now): Whether provider i is.
 * provider_table_any(t, now):           Whether any is.
 */
bool provider_table_is_present(
    const struct provider_table *t, size_t i, struct mono now);
bool provider_table_any(const struct provider_table *t, struct mono now);

/* Whose list it is. */
struct provider_user {
	size_t provider;
	struct str user_id, soul_id;
};

/*
 * provider_table_mark(t, i):
 * What changes whenever provider i announces other tools: to be taken before
 * its list is requested.
 */
uint64_t provider_table_mark(const struct provider_table *t, size_t i);

/*
 * provider_table_put(t, k, l, mark, now): Store a list, unless the tools have
 *     changed since mark, or some are left out.
 * provider_table_get(t, k, now): The list, for which the caller takes a
 *     reference, or NULL.
 * provider_table_drop(t, k):     It is not up to date.
 */
void provider_table_put(struct provider_table *t, const struct provider_user *k,
    struct tool_list *l, uint64_t mark, struct mono now);
struct tool_list *provider_table_get(
    struct provider_table *t, const struct provider_user *k, struct mono now);
void provider_table_drop(
    struct provider_table *t, const struct provider_user *k);

#endif /* !LLM_ORCHESTRATOR_PROVIDER_TABLE_H */
