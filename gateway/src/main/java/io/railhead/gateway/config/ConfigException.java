package io.railhead.gateway.config;

/** A file of the site's that cannot be used; its message is one line naming file, key and mend. */
public final class ConfigException extends Exception {
    private static final long serialVersionUID = 1L;

    public ConfigException(String line) {
        super(line.replaceAll("\\R+", " "));
    }
}
