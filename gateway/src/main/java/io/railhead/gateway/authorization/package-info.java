/** Authorization: the policy file, and decisions of the backend, remembered for a short time. */
@NullMarked
package io.railhead.gateway.authorization;

import org.jspecify.annotations.NullMarked;
