package io.railhead.gateway.audit;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One audit event. No field may hold a secret: names, addresses, ids and codes only, and no text
 * that a client chose except names of buckets and keys. Empty texts are left out of the stream.
 *
 * @param activity the number of the class's activity
 * @param code the error's code of a refusal; "" for an accepted event
 * @param claim the key that the sender of a refused login named, which the stream shows only as its
 *            owner; null if none is known
 */
public record AuditEvent(AuditKind kind, Instant time, int activity, String code, String message,
        Actor actor, Request request, List<Resource> resources, @Nullable Claim claim) {
    private static final int MOST_CHARS = 1024;
    private static final int PREFIX_BYTES = 8;

    /**
     * The sender.
     *
     * @param address the peer's address, without the port
     * @param session the id of an RDMA session
     * @param roleSession the id of a role session, which is its access key id
     */
    public record Actor(String principal, String tenant, String address, String session,
            String roleSession) {
        static final Actor NONE = new Actor("", "", "", "", "");
    }

    /**
     * The call.
     *
     * @param operation such as {@code REST.GET.OBJECT}
     * @param id the request id, as in the response and the access log
     */
    public record Request(String operation, String id) {
        static final Request NONE = new Request("", "");
    }

    /** @param type such as {@code bucket}, {@code object}, {@code principal} or {@code setting} */
    public record Resource(String type, String name) {
        public Resource {
            name = shortened(name);
        }
    }

    public AuditEvent {
        resources = List.copyOf(resources);
        message = shortened(message);
    }

    /** An event of something that was done. */
    public static AuditEvent accepted(AuditKind kind, String message) {
        return new AuditEvent(kind, Instant.now(), kind.activity(), "", message, Actor.NONE,
                Request.NONE, List.of(), null);
    }

    /**
     * An event of a refusal.
     *
     * @param code a short name of the reason, such as {@code AccessDenied}; never ""
     */
    public static AuditEvent refused(AuditKind kind, String code, String message) {
        return new AuditEvent(kind, Instant.now(), kind.activity(), code.isEmpty() ? "-" : code,
                message, Actor.NONE, Request.NONE, List.of(), null);
    }

    /** Returns the same event with its sender; null and "" mean unknown. */
    public AuditEvent by(String principal, String tenant, @Nullable String address) {
        return with(new Actor(principal, tenant, address == null ? "" : address,
                actor.session, actor.roleSession));
    }

    /** Returns the same event with the role session that its sender has; "" for none. */
    public AuditEvent as(String roleSession) {
        return with(new Actor(actor.principal, actor.tenant, actor.address, actor.session,
                roleSession));
    }

    public AuditEvent inSession(String session) {
        return with(new Actor(actor.principal, actor.tenant, actor.address, session,
                actor.roleSession));
    }

    /** Returns the same event with its call. */
    public AuditEvent asking(String operation, String requestId) {
        return new AuditEvent(kind, time, activity, code, message, actor,
                new Request(operation, requestId), resources, claim);
    }

    /** Returns the same event with one more resource. */
    public AuditEvent on(String type, String name) {
        List<Resource> more = new ArrayList<>(resources);
        more.add(new Resource(type, name));
        return new AuditEvent(kind, time, activity, code, message, actor, request, more,
                claim);
    }

    /** Returns the same event with the key that its sender named; null for none. */
    public AuditEvent claiming(@Nullable Claim other) {
        return new AuditEvent(kind, time, activity, code, message, actor, request, resources,
                other);
    }

    /** Returns the same event with more in its message. */
    AuditEvent adding(String text) {
        return new AuditEvent(kind, time, activity, code, message + text, actor, request,
                resources, claim);
    }

    AuditEvent doing(int otherActivity) {
        return new AuditEvent(kind, time, otherActivity, code, message, actor, request, resources,
                claim);
    }

    private AuditEvent with(Actor other) {
        return new AuditEvent(kind, time, activity, code, message, other, request, resources,
                claim);
    }

    boolean isRefusal() {
        return !code.isEmpty();
    }

    /**
     * Returns the sender that limits count for: the address, or the principal without one. One
     * sender has a whole prefix of IPv6 addresses.
     */
    String source() {
        return actor.address.isEmpty() ? actor.principal : prefix(actor.address);
    }

    private static String prefix(String address) {
        if (address.indexOf(':') < 0) {
            return address;
        }
        try {
            int scope = address.indexOf('%');
            byte[] bytes = InetAddress
                    .ofLiteral(scope < 0 ? address : address.substring(0, scope))
                    .getAddress();
            if (bytes.length < 16) {
                return address;
            }
            Arrays.fill(bytes, PREFIX_BYTES, bytes.length, (byte) 0);
            return InetAddress.getByAddress(bytes).getHostAddress() + "/64";
        } catch (IllegalArgumentException | UnknownHostException e) {
            return address;
        }
    }

    private static String shortened(String text) {
        return text.length() <= MOST_CHARS ? text : text.substring(0, MOST_CHARS) + "…";
    }
}
