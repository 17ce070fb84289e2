/* core/out_file: files that a command may replace, and that the old file is whole until then. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/out_file.h"
#include "support/proc.h"

TestSuite(out_file, .init = proc_enter, .fini = proc_leave);

static const char *const sample[] = {
    [OUT_OBJ] = "# Blender\no sheet\nv 0 0 1.5\nv -1 0 0\nvt 0 0\nf 1/1 2/1 3/1\n",
    [OUT_PLY] = "ply\nformat ascii 1.0\n",
    [OUT_VTK] = "# vtk DataFile Version 3.0\nframe 0\n",
    [OUT_SERIES] = "{\n  \"file-series-version\" : \"1.0\"\n}\n",
    [OUT_XDMF] = "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n",
    [OUT_BCC] = "BCC\x44"
                "C0\x03\x02",
    [OUT_CSV] = "step,time,h_total\n0,0,1\n",
    [OUT_PATTERN] = "; From a.json\n\n[piece.front]\nstart = 0 0\n",
    [OUT_HDF5] = "\x89HDF\r\n\x1a\n and so on"};
enum { KINDS = sizeof sample / sizeof *sample };

static void expect_file_text(const char *path, const char *want)
{
  char text[256];
  FILE *const f = fopen(path, "r");
  cr_assert(f != NULL, "%s", path);
  text[fread(text, 1, sizeof text - 1, f)] = '\0';
  fclose(f);
  cr_expect_str_eq(text, want, "%s", path);
}

static int files_here(void)
{
  int n = 0;
  DIR *const d = opendir(".");
  cr_assert(d != NULL);
  for (struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

static loom_status write_to(const char *path, int kind, loom_err *err)
{
  out_file o;
  const loom_status s = out_file_open(err, path, kind, &o);
  if (s != LOOM_OK) return s;
  fputs("new", o.f);
  return out_file_close(err, &o, LOOM_OK);
}

Test(out_file, a_file_of_its_own_kind_is_replaced_and_every_other_one_is_not)
{
  for (int kind = 0; kind < KINDS; ++kind)
    for (int there = 0; there < KINDS; ++there) {
      loom_err err = {0};
      proc_write("a", sample[there]);
      if (kind == there) {
        cr_expect_eq(write_to("a", kind, &err), LOOM_OK, "%d: %s", kind, err.text);
        expect_file_text("a", "new");
      } else {
        cr_expect_eq(write_to("a", kind, &err), LOOM_E_CONFIG, "%d over %d", kind, there);
        cr_expect(strncmp(err.text, "a: is there and is not ", 23) == 0, "%s", err.text);
        cr_expect(strstr(err.text, out_kind_name(kind)) != NULL, "%s", err.text);
        expect_file_text("a", sample[there]);
      }
      cr_expect_eq(files_here(), 1);
    }
}

Test(out_file, texts_of_the_user_are_of_no_kind)
{
  static const char *const texts[] = {"dear diary,\n today\n",
                                      "#!/bin/sh\nset -e\nrm x\n",
                                      "[run]\nsteps = 3\n",
                                      "v\n",
                                      "{}\n",
                                      "# notes\n",
                                      "a b c\n",
                                      "x,y z\n1\n",
                                      "name\n",
                                      "v 1 2 3\nhello world\n",
                                      ",\n",
                                      "<html>\n"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
    for (int kind = 0; kind < KINDS; ++kind) {
      loom_err err = {0};
      proc_write("a", texts[k]);
      cr_expect_eq(write_to("a", kind, &err), LOOM_E_CONFIG, "%d over '%s'", kind, texts[k]);
      expect_file_text("a", texts[k]);
    }
  loom_err err = {0};
  proc_write("empty", "");
  cr_expect_eq(write_to("empty", OUT_OBJ, &err), LOOM_OK, "%s", err.text);
  expect_file_text("empty", "new");
}

/* Also one to a file of the kind, or to no file. */
Test(out_file, nothing_is_written_through_a_link_nor_into_a_pipe)
{
  proc_write("target", sample[OUT_OBJ]);
  cr_assert(symlink("target", "link") == 0 && symlink("missing", "dangling") == 0 &&
            mkfifo("pipe", 0600) == 0 && mkdir("folder", 0777) == 0);
  static const char *const bad[] = {"link", "dangling", "pipe", "folder"};
  for (int k = 0; k < 4; ++k) {
    loom_err err = {0};
    cr_expect_eq(write_to(bad[k], OUT_OBJ, &err), LOOM_E_CONFIG, "%s", bad[k]);
    cr_expect(strstr(err.text, k < 2 ? "is a symbolic link" : "is no regular file") != NULL, "%s",
              err.text);
    cr_expect_eq(out_file_check(&err, bad[k], OUT_OBJ), LOOM_E_CONFIG);
  }
  expect_file_text("target", sample[OUT_OBJ]);
  cr_expect(access("missing", F_OK) != 0);
  cr_expect_eq(files_here(), 5);
}

Test(out_file, what_stands_there_is_whole_until_the_new_one_is)
{
  loom_err err = {0};
  out_file o, other;
  struct stat st;
  proc_write("a", sample[OUT_PLY]);
  cr_assert_eq(chmod("a", 0640), 0);
  cr_assert_eq(out_file_open(&err, "a", OUT_PLY, &o), LOOM_OK, "%s", err.text);
  fputs("ply\nhalf of it", o.f);
  fflush(o.f);
  expect_file_text("a", sample[OUT_PLY]);
  err_set(&err, LOOM_E_IO, "the log is damaged");
  cr_expect_eq(out_file_close(&err, &o, LOOM_E_IO), LOOM_E_IO);
  cr_expect_str_eq(err.text, "the log is damaged");
  expect_file_text("a", sample[OUT_PLY]);
  cr_expect_eq(files_here(), 1);
  /* two at once: each is whole, the last one stays */
  cr_assert(out_file_open(&err, "a", OUT_PLY, &o) == LOOM_OK &&
            out_file_open(&err, "a", OUT_PLY, &other) == LOOM_OK);
  fputs("ply\none", o.f);
  fputs("ply\nother", other.f);
  cr_expect_eq(out_file_close(&err, &o, LOOM_OK), LOOM_OK);
  expect_file_text("a", "ply\none");
  cr_expect_eq(out_file_close(&err, &other, LOOM_OK), LOOM_OK);
  expect_file_text("a", "ply\nother");
  cr_expect(stat("a", &st) == 0 && (st.st_mode & 0777) == 0640);
  /* a file that has come while it was written is looked at, too */
  cr_assert_eq(out_file_open(&err, "b", OUT_PLY, &o), LOOM_OK);
  proc_write("b", "notes");
  cr_expect_eq(out_file_close(&err, &o, LOOM_OK), LOOM_E_CONFIG);
  expect_file_text("b", "notes");
  cr_expect_eq(files_here(), 2);
}
