/** What clients that bring a reliable-connection queue pair of their own write into headers. */
@NullMarked
package io.railhead.rdma.dialect.rc;

import org.jspecify.annotations.NullMarked;
