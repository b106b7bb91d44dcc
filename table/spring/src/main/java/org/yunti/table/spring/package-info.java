/** Beans of shared tables for Spring Boot. */
package org.yunti.table.spring;
