/* net_file.h - writes files of networks (ssdf/net.h) with numbers by chance. */
#ifndef TEST_NET_FILE_H
#define TEST_NET_FILE_H

#include "ssdf/net.h"

typedef struct net_file {
  int hidden, width;
  const char *activation;
  int labels;         /* 1: with flag networks */
  const char *damage; /* its fault, or NULL: "format", "version", "hash", "activation",
                       * "joint", "dofs", "range", "box", "columns", "rows", "hidden", "nan",
                       * "no distance" */
  int octahedra;      /* 1: distances to octahedra that grow with the first angle, exact to
                       * within 1.8 times: hidden 1, width 6, leaky_relu */
} net_file;

/* Of the regions hip and knee of the leg. */
void net_file_write(const char *path, const rig *leg, const net_file *f);

#endif
