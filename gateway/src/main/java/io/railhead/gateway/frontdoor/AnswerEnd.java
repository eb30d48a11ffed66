package io.railhead.gateway.frontdoor;

import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;

/** The end of a response in the written bytes. */
final class AnswerEnd {

    private AnswerEnd() {}

    /** Whether an answer ends with it: 100 Continue is whole, and no answer. */
    static boolean is(Object message) {
        boolean isInterim = message instanceof HttpResponse answer
                && answer.status().codeClass() == HttpStatusClass.INFORMATIONAL
                && !answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
        return message instanceof LastHttpContent && !isInterim;
    }
}
