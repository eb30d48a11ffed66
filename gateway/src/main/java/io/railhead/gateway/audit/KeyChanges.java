package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.Activity;
import io.railhead.gateway.identity.CredentialChange;

/** The events of a reload that removed or altered principals. */
public final class KeyChanges {
    /** A revocation of a whole site must not push other events out of the queue. */
    private static final int MAX_NAMED = 1000;

    private KeyChanges() {}

    /** Records an event for each principal, up to a bound, and the number of the others. */
    public static void tell(CredentialChange change, Audit audit) {
        change.vanished()
                .stream()
                .limit(MAX_NAMED)
                .forEach(name -> audit.record(about(name,
                        "the principal is gone: its sessions end").doing(Activity.DELETE_ACCOUNT)));
        change.changed()
                .stream()
                .limit(MAX_NAMED)
                .forEach(name -> audit.record(about(name,
                        "the principal's keys or rights have changed: its sessions end")));
        int others = Math.max(0, change.vanished().size() - MAX_NAMED)
                + Math.max(0, change.changed().size() - MAX_NAMED);
        if (others > 0) {
            audit.record(AuditEvent.accepted(AuditKind.KEY_CHANGED,
                    others + " more principals are gone or have changed: their sessions end"));
        }
    }

    private static AuditEvent about(String principal, String message) {
        return AuditEvent.accepted(AuditKind.KEY_CHANGED, message)
                .by(principal, "", null)
                .on("principal", principal);
    }
}
