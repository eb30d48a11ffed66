/** One command that tries RDMA and GPU paths of a site's own hardware and checks every byte. */
@NullMarked
package io.railhead.cli.qualify;

import org.jspecify.annotations.NullMarked;
