def log = new File(basedir, 'build.log').text
assert log =~ /page\.vm/
assert !new File(basedir, 'target/classes/templates/page.vm').exists()
