package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.Activity;
import io.railhead.gateway.identity.CredentialChange;

/** The events of a reload that removed or altered principals. */
public final class KeyChanges {
    private KeyChanges() {}

    public static void tell(CredentialChange change, Audit audit) {
        change.vanished()
                .forEach(name -> audit.record(about(name,
                        "the principal is gone: its sessions end").doing(Activity.DELETE_ACCOUNT)));
        change.changed()
                .forEach(name -> audit.record(about(name,
                        "the principal's keys or rights have changed: its sessions end")));
    }

    private static AuditEvent about(String principal, String message) {
        return AuditEvent.accepted(AuditKind.KEY_CHANGED, message)
                .by(principal, "", null)
                .on("principal", principal);
    }
}
