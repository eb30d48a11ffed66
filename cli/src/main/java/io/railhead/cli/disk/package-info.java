/** Commands on the files and devices of the disk tier, without a gateway. */
@NullMarked
package io.railhead.cli.disk;

import org.jspecify.annotations.NullMarked;
