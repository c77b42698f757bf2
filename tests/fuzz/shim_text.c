/*
 * What a runner and a shim read of each other and of processes: specs, and
 * environments, which engines can fill with anything.
 */
#include <string.h>

#include "core/buf.h"
#include "must.h"
#include "procsup/cgroup.h"
#include "procsup/process_table.h"
#include "procsup/shim_spec.h"

#define MAX (4UL * 1024 * 1024)

/* What was read is the same after it was written and read anew. */
static void
check_written(const struct shim_spec *s)
{
	struct buf one = BUF_INIT(MAX), two = BUF_INIT(MAX);
	struct shim_spec same;

	shim_spec_write(&s->spec, s->grace_ms, &one);
	must(buf_rc(&one) == RC_OK);
	must(shim_spec_read(&same, buf_str(&one)) == RC_OK);
	shim_spec_write(&same.spec, same.grace_ms, &two);
	must(str_eq(buf_str(&one), buf_str(&two)));
	must(same.argc == s->argc && same.envc == s->envc);
	shim_spec_free(&same);
	buf_free(&one);
	buf_free(&two);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct str all = { (const char *)bytes, n };
	char mark[16], path[64];
	struct shim_spec s;

	if (process_mark_find(all, mark, sizeof(mark)))
		must(strlen(mark) < sizeof(mark) &&
		    str_find(all, STR(PROCESS_MARK "=")) >= 0);
	str_copy(all, path, sizeof(path));
	must(!cgroup_is_of(path, "mark") || strstr(path, "..") == NULL ||
	    strstr(path, "/../") == NULL);
	if (shim_spec_read(&s, all) == RC_OK)
		check_written(&s);
	shim_spec_free(&s);
	return 0;
}
