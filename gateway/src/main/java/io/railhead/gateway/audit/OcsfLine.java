package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.OcsfClass;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** The JSON of an event, in the fields of the Open Cybersecurity Schema Framework (OCSF) 1.3. */
final class OcsfLine {
    private static final String SCHEMA = "1.3.0";
    private static final int INFORMATIONAL = 1;
    private static final int MEDIUM = 3;
    private static final int SUCCESS = 1;
    private static final int FAILURE = 2;

    private final String gateway;
    private final String version;

    /**
     * @param gateway the gateway's name
     * @param version the product's version; "" outside a release
     */
    OcsfLine(String gateway, String version) {
        this.gateway = gateway;
        this.version = version;
    }

    /** @param sequence the event's number since the start; a gap shows a lost event */
    String of(AuditEvent event, long sequence) {
        OcsfClass ocsf = event.kind().ocsfClass();
        JsonObject line = new JsonObject()
                .put("time", event.time().toEpochMilli())
                .put("class_uid", ocsf.uid())
                .put("category_uid", ocsf.category())
                .put("activity_id", event.activity())
                .put("type_uid", ocsf.uid() * 100 + event.activity())
                .put("severity_id", severity(event))
                .put("status_id", event.isRefusal() ? FAILURE : SUCCESS)
                .put("status", event.isRefusal() ? "Failure" : "Success");
        put(line, "status_code", event.code());
        put(line, "message", event.message());
        line.put("metadata", metadata(event, sequence));
        actor(line, event, ocsf);
        put(line, "src_endpoint", named("ip", event.actor().address()));
        line.put("dst_endpoint", named("name", gateway));
        put(line, "api", named("operation", event.request().operation()));
        put(line, "http_request", named("uid", event.request().id()));
        if (!event.resources().isEmpty()) {
            JsonArray resources = new JsonArray();
            event.resources()
                    .forEach(resource -> resources
                            .add(JsonObject.of("type", resource.type(), "name", resource.name())));
            line.put("resources", resources);
        }
        return line.encode();
    }

    static int severity(AuditEvent event) {
        return event.isRefusal() ? MEDIUM : INFORMATIONAL;
    }

    private JsonObject metadata(AuditEvent event, long sequence) {
        JsonObject product = JsonObject.of("name", "Railhead", "vendor_name", "Railhead");
        put(product, "version", version);
        return JsonObject.of("version", SCHEMA, "product", product, "event_code",
                event.kind().label(), "sequence", sequence);
    }

    private static void actor(JsonObject line, AuditEvent event, OcsfClass ocsf) {
        AuditEvent.Actor sender = event.actor();
        JsonObject user = named("name", sender.principal());
        put(user, "org", named("name", sender.tenant()));
        JsonObject actor = new JsonObject();
        put(actor, "user", user);
        JsonObject session = named("uid", sender.session());
        put(session, "credential_uid", sender.roleSession());
        put(actor, "session", session);
        put(line, "actor", actor);
        if (ocsf == OcsfClass.AUTHENTICATION || ocsf == OcsfClass.ACCOUNT_CHANGE) {
            // Required by these classes: the account that the event is about.
            line.put("user", user.isEmpty() ? named("name", "unknown") : user.copy());
        }
    }

    private static JsonObject named(String field, String value) {
        JsonObject object = new JsonObject();
        put(object, field, value);
        return object;
    }

    private static void put(JsonObject object, String field, String value) {
        if (!value.isEmpty()) {
            object.put(field, value);
        }
    }

    private static void put(JsonObject object, String field, JsonObject value) {
        if (!value.isEmpty()) {
            object.put(field, value);
        }
    }
}
