package org.yunti.messages;
final class Agent {}
