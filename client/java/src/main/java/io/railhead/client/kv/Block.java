package io.railhead.client.kv;

import io.railhead.client.Window;
import io.railhead.protocol.channel.RequestWindow;
import java.util.List;

/**
 * A block and its memory.
 *
 * @param key behind the namespace's prefix, not empty
 * @param windows which the block's bytes fill in turn: 1 to 64, each once
 */
public record Block(String key, List<Window> windows) {

    public Block {
        windows = List.copyOf(windows);
        if (key.isEmpty()) {
            throw new IllegalArgumentException("key must not be empty");
        }
        if (windows.isEmpty() || windows.size() > RequestWindow.MAX_WINDOWS) {
            throw new IllegalArgumentException("windows must be 1 to " + RequestWindow.MAX_WINDOWS
                    + ": " + windows.size());
        }
    }

    public static Block of(String key, Window... windows) {
        return new Block(key, List.of(windows));
    }

    /** Returns the length of all windows. */
    long bytes() {
        return windows.stream().mapToLong(Window::length).sum();
    }
}
