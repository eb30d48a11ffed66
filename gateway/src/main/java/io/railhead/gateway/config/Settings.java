package io.railhead.gateway.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The settings of a configuration file for display, key by key, with defaults filled in. No key of
 * {@code railhead.yaml} holds a secret now; a later one would be masked here.
 */
final class Settings implements Section.Listener {
    private static final String MASK = "****";
    private static final Set<String> SECRETS = Set.of("secret", "password", "passphrase", "token",
            "secret_key", "session_token", "private_key", "access_key");
    private static final Pattern USER_INFO = Pattern.compile("://[^/@\\s]*@");

    private final Map<String, String> byKey = new LinkedHashMap<>();
    private final List<String> warnings = new ArrayList<>();

    private final Section.Listener next;

    /** @param next receives the same calls */
    Settings(Section.Listener next) {
        this.next = next;
    }

    @Override
    public void asked(String path, String kind, String otherwise) {
        next.asked(path, kind, otherwise);
    }

    @Override
    public void said(String key, String value) {
        next.said(key, value);
        String name = key.substring(key.lastIndexOf('.') + 1);
        byKey.put(key, SECRETS.contains(name)
                ? MASK
                : USER_INFO.matcher(value).replaceAll("://" + MASK + "@"));
    }

    @Override
    public void retired(String warning) {
        next.retired(warning);
        warnings.add(warning);
    }

    /** Returns one line for each key that has no effect any more. */
    List<String> warnings() {
        return List.copyOf(warnings);
    }

    /** Returns the settings in the order in which they were read. */
    Map<String, String> all() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(byKey));
    }
}
