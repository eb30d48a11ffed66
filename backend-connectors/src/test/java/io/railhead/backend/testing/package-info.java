/** Stores to test against and the suite that each has to pass; no JUnit in the stores. */
@NullMarked
package io.railhead.backend.testing;

import org.jspecify.annotations.NullMarked;
