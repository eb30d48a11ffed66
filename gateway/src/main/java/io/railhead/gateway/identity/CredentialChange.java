package io.railhead.gateway.identity;

import java.util.Set;

/**
 * The principals that a reload of {@code credentials.yaml} removed or altered, by name. Everything
 * that was granted to them before must be revoked.
 */
public record CredentialChange(Set<String> vanished, Set<String> changed) {

    public CredentialChange {
        vanished = Set.copyOf(vanished);
        changed = Set.copyOf(changed);
    }

    public boolean isEmpty() {
        return vanished.isEmpty() && changed.isEmpty();
    }
}
