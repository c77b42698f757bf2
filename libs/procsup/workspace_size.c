/*
 * workspace_size: see workspace_size.h.  fts holds no more than one folder's
 * entries in memory.
 */
#include <fts.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/str.h"
#include "procsup/workspace_size.h"

#define BLOCK_BYTES 512

bool
workspace_size_over(const char *path, int64_t bytes, int64_t files)
{
	char folder[4096], *roots[] = { folder, NULL };
	int64_t used = 0, n = 0;
	bool over = false;
	FTSENT *e;
	FTS *fts;

	str_copy(str_of(path), folder, sizeof(folder));
	fts = fts_open(roots, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (fts == NULL)
		return false;
	while (!over && (e = fts_read(fts)) != NULL) {
		if (e->fts_info == FTS_DP || e->fts_info == FTS_NS ||
		    e->fts_statp == NULL)
			continue;
		n++;
		used += e->fts_statp->st_blocks * BLOCK_BYTES;
		over = (bytes > 0 && used > bytes) || (files > 0 && n > files);
	}
	fts_close(fts);
	return over;
}
