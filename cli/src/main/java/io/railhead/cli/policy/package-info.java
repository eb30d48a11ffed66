/** Commands that try out the policy file, without a gateway. */
@NullMarked
package io.railhead.cli.policy;

import org.jspecify.annotations.NullMarked;
