#include "run_choice.h"

static bool
choice_has(const struct str *list, size_t n, struct str one)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_eq(list[i], one))
			return true;
	return false;
}

enum rc
run_choice_allows(
    const struct run_choice *c, const struct wire_runner_status_engines *e)
{
	if (!str_eq(e->engine, c->engine))
		return RC_NOENT;
	if (e->has_tenants && !choice_has(e->tenants, e->n_tenants, c->tenant))
		return RC_DENIED;
	if (c->model.n > 0 && !choice_has(e->models, e->n_models, c->model))
		return RC_INVALID;
	return RC_OK;
}

enum rc
run_choice_make(const struct run_choice *c,
    const struct wire_runner_status *list, size_t n, struct str *out)
{
	enum rc worst = RC_DOWN, rc;
	int64_t most = -1;
	size_t i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < list[i].n_engines; k++) {
			rc = run_choice_allows(c, &list[i].engines[k]);
			if (rc == RC_OK && list[i].free > most) {
				most = list[i].free;
				*out = list[i].runner;
			} else if (rc == RC_DENIED || rc == RC_INVALID) {
				worst = rc;
			}
		}
	}
	return most >= 0 ? RC_OK : worst;
}
