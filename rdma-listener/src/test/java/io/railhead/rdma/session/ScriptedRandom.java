package io.railhead.rdma.session;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Gives the ints it was told to give, then real ones. */
final class ScriptedRandom extends SecureRandom {
    private static final long serialVersionUID = 1L;

    private final Deque<Integer> script;

    ScriptedRandom(Integer... script) {
        this.script = new ArrayDeque<>(List.of(script));
    }

    @Override
    public int nextInt() {
        return script.isEmpty() ? super.nextInt() : script.remove();
    }

    @Override
    public int nextInt(int bound) {
        return script.isEmpty() ? super.nextInt(bound) : script.remove();
    }
}
