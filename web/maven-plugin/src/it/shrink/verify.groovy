def before = new File(basedir, 'src/main/resources/templates/page.vm').text
def after = new File(basedir, 'target/classes/templates/page.vm').text
assert after.contains('<td> $x </td>') || after.contains('<td>$x</td>')
assert after.length() < before.length()
assert new File(basedir, 'build.log').text.contains('page.vm')
