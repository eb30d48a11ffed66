package io.railhead.gateway.admin;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects what a support bundle has of a running gateway, as texts by file name. Every text is
 * redacted.
 */
public final class SupportCall {
    private static final Logger LOG = LoggerFactory.getLogger(SupportCall.class);

    private final Map<String, Callable<String>> parts;
    private final SecretMask mask;

    /** @param parts by file name; each is collected on a virtual thread and may block */
    public SupportCall(Map<String, Callable<String>> parts, SecretMask mask) {
        this.parts = new LinkedHashMap<>(parts);
        this.mask = mask;
    }

    JsonObject run(AdminCall.Asked asked) {
        asked.body().close();
        JsonObject texts = new JsonObject();
        parts.forEach((name, part) -> texts.put(name, mask.of(collect(name, part))));
        return JsonObject.of("parts", texts);
    }

    /** A part that fails must not hide the others, which may say why. */
    private static String collect(String name, Callable<String> part) {
        try {
            return part.call();
        } catch (Exception | Error e) {
            LOG.warn("support bundle: {} was not collected", name, e);
            return "not collected: " + e.getClass().getName() + "\n";
        }
    }
}
