/** The disk tier: pages that memory has given up, in a log of segments on files or devices. */
@NullMarked
package io.railhead.cache.disk;

import org.jspecify.annotations.NullMarked;
